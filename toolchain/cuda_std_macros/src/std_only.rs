//! Methods of numbers that only `std` has, in the body of a kernel or device function.
//!
//! * `x.sqrt()` and other exactly rounded methods give the same result on both sides. On the device
//!   they are methods of `cuda_std::math::Float`, which is brought into scope here.
//! * `x.exp()` and the like are rejected, on the host too: the device has no such method, and the
//!   last bits of the one in `std` differ from `cuda_std::math::exp`. A macro does not see the type
//!   of a method's receiver, but the compiler does. So `x.exp()` becomes
//!   `x.__on_the_device().exp()`. On a number that does not compile, and the error names the
//!   function to call. On anything else it is a reference to the receiver.

use proc_macro2::Span;
use quote::format_ident;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Error, ExprMethodCall, ExprPath, Result, parse_quote, parse_quote_spanned};

/// The methods of `cuda_std::math::Float`.
const EXACT: [&str; 8] =
    ["ceil", "floor", "fract", "mul_add", "round", "round_ties_even", "sqrt", "trunc"];

/// The other methods of `f32` and `f64` that `core` lacks.
const OTHERS: [&str; 26] = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "exp",
    "exp2", "exp_m1", "hypot", "ln", "ln_1p", "log", "log10", "log2", "powf", "powi", "sin",
    "sin_cos", "sinh", "tan", "tanh",
];

/// Prepares a body for both sides, as described above.
pub(crate) fn prepare(body: &mut Block) -> Result<()> {
    let mut methods = Methods::default();
    methods.visit_block_mut(body);
    if let Some(error) = methods.error {
        return Err(error);
    }
    if methods.exact {
        let float = parse_quote! {
            #[allow(unused_imports)]
            use ::cuda_std::math::Float as _;
        };
        body.stmts.insert(0, float);
    }
    if methods.others {
        let check = parse_quote! {
            #[allow(unused_imports)]
            use ::cuda_std::math::{__Anything as _, __Number as _};
        };
        body.stmts.insert(0, check);
    }
    Ok(())
}

/// The methods found in a body.
#[derive(Default)]
struct Methods {
    exact: bool,
    others: bool,
    error: Option<Error>,
}

impl VisitMut for Methods {
    fn visit_expr_method_call_mut(&mut self, call: &mut ExprMethodCall) {
        visit_mut::visit_expr_method_call_mut(self, call);
        let name = call.method.to_string();
        self.exact |= EXACT.contains(&name.as_str());
        if OTHERS.contains(&name.as_str()) {
            self.others = true;
            let span: Span = call.method.span();
            let (receiver, check) = (&call.receiver, format_ident!("__on_the_device", span = span));
            *call.receiver = parse_quote_spanned!(span=> #receiver.#check());
        }
    }

    /// `f32::exp(x)`, or `f32::exp` as a value.
    fn visit_expr_path_mut(&mut self, path: &mut ExprPath) {
        let segments = path.path.segments.iter().map(|segment| segment.ident.to_string());
        let segments: Vec<_> = segments.collect();
        let [.., ty @ ("f32" | "f64"), name] =
            &segments.iter().map(String::as_str).collect::<Vec<_>>()[..]
        else {
            return;
        };
        self.exact |= EXACT.contains(name);
        if OTHERS.contains(name) {
            let message = format!(
                "`{ty}::{name}` is of `std` alone, not on the device: call the function of this name \
                 in `cuda_std::math`"
            );
            self.error = Some(Error::new_spanned(&*path, message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn prepared(mut body: Block) -> String {
        prepare(&mut body).expect("no path to a method of std");
        quote!(#body).to_string()
    }

    #[test]
    fn an_exactly_rounded_method_has_its_trait_in_scope() {
        let text = prepared(parse_quote!({ x.read(0).sqrt() }));
        assert!(text.contains("math :: Float as _"), "{text}");
        assert!(!text.contains("__on_the_device"), "{text}");
        let path = prepared(parse_quote!({ f32::mul_add(a, b, c) }));
        assert!(path.contains("math :: Float as _"), "{path}");
    }

    #[test]
    fn calls_of_other_methods_check_the_type_of_their_receiver() {
        let text = prepared(parse_quote!({ (0..n).map(|i| x.read(i).exp().ln()).sum() }));
        let found = text.matches(". __on_the_device ()").count();
        assert_eq!(found, 2, "{text}");
    }

    #[test]
    fn a_body_without_such_methods_is_unchanged() {
        let body: Block = parse_quote!({ x.write(i, x.read(i).abs().max(2.0) * cos(y)) });
        assert_eq!(prepared(body.clone()), quote!(#body).to_string());
    }

    #[test]
    fn a_path_to_a_method_of_std_is_rejected() {
        for mut body in [
            parse_quote!({ f32::exp(x) }),
            parse_quote!({ values.map(f64::exp) }),
            parse_quote!({ core::primitive::f32::exp(x) }),
        ] {
            let said = prepare(&mut body).expect_err("refused").to_string();
            assert!(said.contains("::exp`") && said.contains("cuda_std::math"), "{said}");
        }
    }
}
