//! Two threads that write and read X and Y: the example of the CUDA C++ Programming Guide, "Memory
//! Fence Functions". Can the reader see the second write and not the first, B = 20 with A = 1?

/// Names and texts of the tests.
pub(super) const WRITE_AND_READ: [(&str, &str); 3] = [
    (
        "writeXY+readXY",
        "PTX writeXY+readXY
         { X=1; Y=2; }
         P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;
         st.weak X, 10  | ld.weak r0, Y  ;
         st.weak Y, 20  | ld.weak r1, X  ;
         exists (P1:r0 == 20 /\\ P1:r1 == 1)",
    ),
    (
        "writeXY+readXY+fences",
        "PTX writeXY+readXY+fences
         { X=1; Y=2; }
         P0@cta 0,gpu 0       | P1@cta 1,gpu 0        ;
         st.weak X, 10        | ld.weak r0, Y         ;
         fence.acq_rel.gpu    | fence.acq_rel.gpu     ;
         st.weak Y, 20        | ld.weak r1, X         ;
         exists (P1:r0 == 20 /\\ P1:r1 == 1)",
    ),
    (
        "writeXY+readXY+strong+fences",
        "PTX writeXY+readXY+strong+fences
         { X=1; Y=2; }
         P0@cta 0,gpu 0        | P1@cta 1,gpu 0        ;
         st.weak X, 10         | ld.relaxed.gpu r0, Y  ;
         fence.acq_rel.gpu     | fence.acq_rel.gpu     ;
         st.relaxed.gpu Y, 20  | ld.weak r1, X         ;
         exists (P1:r0 == 20 /\\ P1:r1 == 1)",
    ),
];
