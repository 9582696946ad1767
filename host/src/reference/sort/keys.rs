//! Sorts keys with which nothing moves, in place: as numbers, of which no two different keys have the
//! same. A sort of such numbers is stable, whatever it does.

use super::{Key, Order};
use crate::parallel::{self, CHUNK};
use bytemuck::Pod;
use gridsync_kernels::grid::sort::{Order as _, Word as _};
use rdst::{RadixKey, RadixSort};

/// Sorts `keys`.
pub(super) fn sort<K: Key, W: Pod + RadixKey + Ord + Send + Sync>(order: Order, keys: &mut [K]) {
    let order = K::order(order);
    let (zero, nan) = (K::Word::default(), K::Word::ONES.xor(K::Word::SIGN));
    // Different keys can be equal: both zeros, and all NaNs. These get one number.
    let shared_of = |key: K::Word| if key == K::Word::SIGN { zero } else { nan };
    let number = |key: K::Word| bytemuck::cast::<K::Word, W>(order.exact(key));
    let numbers = |words: &mut [W]| {
        for word in words {
            let key = bytemuck::cast(*word);
            *word = number(if order.is_special(key) { shared_of(key) } else { key });
        }
    };
    let are_special = |words: &[W]| {
        words.iter().fold(false, |any, &word| any | order.is_special(bytemuck::cast(word)))
    };
    let of_numbers = |numbers: &mut [W]| {
        for number in numbers {
            *number = bytemuck::cast(order.of_exact(bytemuck::cast(*number)));
        }
    };
    let words = bytemuck::cast_slice_mut(keys);
    let shared = if any(&are_special, words) {
        [zero, nan].map(|shared| (number(shared), all_of(&numbers, number(shared), words)))
    } else {
        [zero, nan].map(|shared| (number(shared), Vec::new()))
    };
    parallel::for_each(words.chunks_mut(CHUNK), &|_, words: &mut [W]| numbers(words));
    words.radix_sort_builder().with_low_mem_tuner().sort();
    let starts = [0, 1].map(|at| words.partition_point(|number| *number < shared[at].0));
    parallel::for_each(words.chunks_mut(CHUNK), &|_, words: &mut [W]| of_numbers(words));
    for (start, (_, keys)) in starts.into_iter().zip(&shared) {
        words[start..start + keys.len()].copy_from_slice(keys);
    }
}

/// Whether `holds` for some words.
fn any<W: Pod + Sync>(holds: &(dyn Fn(&[W]) -> bool + Sync), words: &[W]) -> bool {
    parallel::map_chunks(words.len(), CHUNK, &|chunk| holds(&words[chunk])).contains(&true)
}

/// The words with this number, in their order.
fn all_of<W: Pod + Eq + Send + Sync>(
    numbers: &(dyn Fn(&mut [W]) + Sync),
    number: W,
    words: &[W],
) -> Vec<W> {
    let chunks = parallel::map_chunks(words.len(), CHUNK, &|chunk| {
        let words = &words[chunk];
        let mut own = words.to_vec();
        numbers(&mut own);
        let has_number = |(_, of): &(&W, &W)| **of == number;
        words.iter().zip(&own).filter(has_number).map(|(&word, _)| word).collect::<Vec<_>>()
    });
    chunks.concat()
}
