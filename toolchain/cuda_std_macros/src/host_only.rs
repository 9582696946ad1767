//! Features of `std` that the device lacks: the heap, output, and the paths of `std`. They are
//! rejected in the body of a kernel or device function, on the host too, where they would compile.
//!
//! A macro sees names, not types, and only the body that has the attribute. Plain functions that
//! the body calls are not checked: there the device compiler rejects missing features.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::{ParseStream, Parser};
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Error, Macro, Path, PathArguments, Result, Stmt};

/// Macros that print.
const PRINT: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// Macros that allocate.
const ALLOCATE: [&str; 2] = ["vec", "format"];

/// Types on the heap.
const ON_THE_HEAP: [&str; 5] = ["Vec", "String", "Box", "Rc", "Arc"];

/// Rejects features that the device lacks, with an error for each use.
pub(crate) fn refuse(body: &Block) -> Result<()> {
    let mut found = Found::default();
    found.visit_block(body);
    found.0.map_or(Ok(()), Err)
}

#[derive(Default)]
struct Found(Option<Error>);

impl Found {
    fn add(&mut self, place: impl ToTokens, message: &str) {
        let error = Error::new_spanned(place, message);
        match &mut self.0 {
            Some(first) => first.combine(error),
            none => *none = Some(error),
        }
    }

    fn add_heap(&mut self, place: impl ToTokens, name: &str) {
        self.add(
            place,
            &format!(
                "`{name}` needs a heap, and the device has none: use an array of fixed length, such as \
                 `[0.0; 8]`, or memory that the launch gives the kernel, a `Global<T>` or a `Shared<T>`"
            ),
        );
    }
}

impl Visit<'_> for Found {
    /// Skips statements under a `cfg`, which may be only for the host.
    fn visit_stmt(&mut self, statement: &Stmt) {
        if !has_cfg(statement) {
            visit::visit_stmt(self, statement);
        }
    }

    fn visit_macro(&mut self, call: &Macro) {
        let name = call.path.segments.last().map_or(String::new(), |last| last.ident.to_string());
        if PRINT.contains(&name.as_str()) {
            self.add(
                &call.path,
                &format!(
                    "`{name}!` cannot print from the device: write the values to a `Global<T>`, and \
                     print them on the host after the launch"
                ),
            );
        } else if ALLOCATE.contains(&name.as_str()) {
            self.add_heap(&call.path, &format!("{name}!"));
        } else {
            visit::visit_macro(self, call);
        }
    }

    fn visit_path(&mut self, path: &Path) {
        let Some(first) = path.segments.first() else { return };
        let name = first.ident.to_string();
        let is_more = path.segments.len() > 1;
        if name == "std" && is_more {
            let in_core: TokenStream = path
                .segments
                .iter()
                .skip(1)
                .fold(quote!(core), |path, segment| quote!(#path::#segment));
            let in_core = in_core.to_string().replace(' ', "");
            self.add(
                path,
                &format!("the device has no `std`: if `core` has this, write `{in_core}`"),
            );
        } else if ON_THE_HEAP.contains(&name.as_str())
            && (is_more || !matches!(first.arguments, PathArguments::None))
        {
            self.add_heap(path, &name);
        } else {
            visit::visit_path(self, path);
        }
    }
}

/// Whether the statement begins with a `#[cfg(…)]`.
fn has_cfg(statement: &Stmt) -> bool {
    let attributes = |input: ParseStream<'_>| {
        let attributes = input.call(Attribute::parse_outer)?;
        input.parse::<TokenStream>()?;
        Ok(attributes)
    };
    let attributes = attributes.parse2(statement.to_token_stream());
    attributes.is_ok_and(|all| all.iter().any(|attribute| attribute.path().is_ident("cfg")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn features_the_device_lacks_are_rejected_with_a_remedy() {
        let cases: [(Block, &str, &str); 8] = [
            (
                parse_quote!({
                    println!("{x}");
                }),
                "`println!`",
                "write the values to a `Global<T>`",
            ),
            (
                parse_quote!({
                    let y = dbg!(x);
                }),
                "`dbg!`",
                "print them on the host",
            ),
            (
                parse_quote!({
                    let v = vec![0; 3];
                }),
                "`vec!`",
                "`[0.0; 8]`",
            ),
            (parse_quote!({ f(|| format!("{x}")) }), "`format!`", "heap"),
            (
                parse_quote!({
                    let v = Vec::new();
                }),
                "`Vec`",
                "a `Shared<T>`",
            ),
            (
                parse_quote!({
                    let v = x.collect::<Vec<_>>();
                }),
                "`Vec`",
                "the device has none",
            ),
            (
                parse_quote!({
                    let v: Box<u32> = y;
                }),
                "`Box`",
                "the device has none",
            ),
            (parse_quote!({ x * std::f32::consts::PI }), "no `std`", "`core::f32::consts::PI`"),
        ];
        for (body, name, remedy) in cases {
            let said = refuse(&body).expect_err("refused").to_string();
            assert!(said.contains(name) && said.contains(remedy), "{said}");
        }
    }

    #[test]
    fn each_use_is_reported() {
        let body = parse_quote!({
            println!("a");
            let v = Vec::<u32>::with_capacity(3);
        });
        assert_eq!(refuse(&body).expect_err("refused").into_iter().count(), 2);
    }

    #[test]
    fn features_of_core_are_accepted() {
        let body = parse_quote!({
            assert!(x > 0, "x is {x}");
            let a: [f32; 8] = core::array::from_fn(|i| i as f32);
            let Boxed { vec, string } = y;
            vec.print(string);
            #[cfg(not(target_arch = "nvptx64"))]
            if x > 9 {
                println!("on the host alone");
            }
        });
        refuse(&body).expect("accepted");
    }
}
