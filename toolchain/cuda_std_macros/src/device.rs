//! The expansion of `#[device]`.

use crate::std_only;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, Expr, ExprClosure, ImplItemFn, Result, parse::Parser, visit::Visit};

/// Expands one device function. On the host the compiler decides what it inlines, because to inline
/// everything takes longer to build.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let protocol = protocol(options)?;
    let mut function: ImplItemFn = syn::parse2(item)
        .map_err(|error| Error::new(error.span(), "a device function has a body"))?;
    if let Some(token) = &function.sig.constness {
        let message = "a `const fn` calls no device functions: it needs no `#[device]`";
        return Err(Error::new_spanned(token, message));
    }
    std_only::prepare(&mut function.block)?;
    let ImplItemFn { attrs, vis, defaultness, sig, block } = &function;
    let statements = &block.stmts;
    let call = match protocol {
        Some(name) => Some(quote! {
            #[cfg(not(target_arch = "nvptx64"))]
            let _call = ::cuda_std::protocol_call(#name);
            // Otherwise the name would be dead code on the device.
            #[cfg(target_arch = "nvptx64")]
            let _ = #name;
        }),
        None => has_closure(&function).then(|| {
            quote! {
                #[cfg(not(target_arch = "nvptx64"))]
                let _call = ::cuda_std::library_call();
            }
        }),
    };
    Ok(quote! {
        #(#attrs)*
        #[cfg_attr(target_arch = "nvptx64", inline(always))]
        #[cfg_attr(not(target_arch = "nvptx64"), inline, track_caller)]
        #vis #defaultness #sig {
            #call
            #(#statements)*
        }
    })
}

/// The name of the protocol, if there is one.
fn protocol(options: TokenStream) -> Result<Option<Expr>> {
    let mut protocol = None;
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("protocol") {
            protocol = Some(meta.value()?.parse()?);
            return Ok(());
        }
        Err(meta.error("unknown option of a device function: there is `protocol = \"its name\"`"))
    });
    parser.parse2(options)?;
    Ok(protocol)
}

/// Whether the function has a closure. A call in a closure has the closure's line as its caller,
/// because `#[track_caller]` works only for functions.
fn has_closure(function: &ImplItemFn) -> bool {
    struct Closures(bool);
    impl Visit<'_> for Closures {
        fn visit_expr_closure(&mut self, _: &ExprClosure) {
            self.0 = true;
        }
    }
    let mut closures = Closures(false);
    closures.visit_impl_item_fn(function);
    closures.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(options: TokenStream, item: TokenStream) -> String {
        expand(options, item).expect("a device function").to_string()
    }

    #[test]
    fn a_device_function_passes_its_caller_on() {
        let plain = expanded(
            quote!(),
            quote!(
                pub(super) fn f(self) -> u32 {
                    self.0
                }
            ),
        );
        assert!(plain.contains("track_caller") && plain.contains("inline (always)"));
        assert!(!plain.contains("library_call"), "{plain}");
    }

    #[test]
    fn a_function_with_a_closure_keeps_the_line_of_its_caller() {
        let closure = expanded(
            quote!(),
            quote!(
                fn f(x: u32) {
                    spin::until(|| look(x));
                }
            ),
        );
        assert!(closure.contains("library_call"), "{closure}");
        let nested = expanded(
            quote!(),
            quote!(
                fn f() {
                    loop {
                        g(from_fn(|i| i))
                    }
                }
            ),
        );
        assert!(nested.contains("library_call"), "{nested}");
    }

    #[test]
    fn a_part_of_a_protocol_says_its_name() {
        let named = expanded(
            quote!(protocol = "the mail"),
            quote!(
                fn f() {}
            ),
        );
        assert!(named.contains("protocol_call (\"the mail\")"), "{named}");
    }

    #[test]
    fn what_is_no_device_function_is_refused_by_name() {
        for (options, item, word) in [
            (
                quote!(),
                quote!(
                    fn f();
                ),
                "has a body",
            ),
            (
                quote!(),
                quote!(
                    const fn f() {}
                ),
                "`const fn`",
            ),
            (
                quote!(inline),
                quote!(
                    fn f() {}
                ),
                "`protocol = ",
            ),
        ] {
            let said = expand(options, item).expect_err("refused").to_string();
            assert!(said.contains(word), "{said}");
        }
    }
}
