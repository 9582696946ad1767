//! The expansion of `#[device]`.

use crate::{host_only, std_only};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Error, Expr, ImplItemFn, Lifetime, Result, ReturnType, Signature, TypeImplTrait, TypeReference,
    parse::Parser,
    visit::{self, Visit},
};

/// Expands one device function. On the host, inlining is left to the compiler, because inlining
/// everything makes the build slower.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let protocol = protocol(options)?;
    let mut function: ImplItemFn = syn::parse2(item)
        .map_err(|error| Error::new(error.span(), "a device function has a body"))?;
    if let Some(token) = &function.sig.constness {
        let message = "a `const fn` calls no device functions: it needs no `#[device]`";
        return Err(Error::new_spanned(token, message));
    }
    host_only::refuse(&function.block)?;
    std_only::prepare(&mut function.block)?;
    let ImplItemFn { attrs, vis, defaultness, sig, block } = &function;
    let statements = &block.stmts;
    let begin = match &protocol {
        Some(name) => quote!(::cuda_std::protocol_call(#name)),
        None => quote!(::cuda_std::library_call()),
    };
    // Without this use, the name would be dead code on the device.
    let name = protocol.map(|name| quote!(let _ = #name;));
    // Calls in a `#[track_caller]` function report its caller as theirs. Those in a closure report
    // their own lines.
    let body = if lends(sig) {
        quote!({ #(#statements)* })
    } else {
        let output = typed(&sig.output);
        quote!((move || #output { #(#statements)* })())
    };
    Ok(quote! {
        #(#attrs)*
        #[cfg_attr(target_arch = "nvptx64", inline(always))]
        #[cfg_attr(not(target_arch = "nvptx64"), inline, track_caller)]
        #vis #defaultness #sig {
            #[cfg(target_arch = "nvptx64")]
            {
                #name
                #(#statements)*
            }
            #[cfg(not(target_arch = "nvptx64"))]
            {
                let _call = #begin;
                #body
            }
        }
    })
}

/// The return type, if a closure can declare it. The compiler infers `impl Trait`.
fn typed(output: &ReturnType) -> Option<&ReturnType> {
    struct Opaque(bool);
    impl Visit<'_> for Opaque {
        fn visit_type_impl_trait(&mut self, _: &TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut opaque = Opaque(false);
    opaque.visit_return_type(output);
    (!opaque.0).then_some(output)
}

/// Whether the function has a parameter borrowed mutably and returns a borrow. A closure cannot
/// return that.
fn lends(sig: &Signature) -> bool {
    #[derive(Default)]
    struct Borrows {
        any: bool,
        exclusive: bool,
    }
    impl Visit<'_> for Borrows {
        fn visit_lifetime(&mut self, _: &Lifetime) {
            self.any = true;
        }
        fn visit_type_reference(&mut self, reference: &TypeReference) {
            self.any = true;
            self.exclusive |= reference.mutability.is_some();
            visit::visit_type_reference(self, reference);
        }
    }
    let (mut taken, mut returned) = (Borrows::default(), Borrows::default());
    sig.inputs.iter().for_each(|input| taken.visit_fn_arg(input));
    returned.visit_return_type(&sig.output);
    taken.exclusive && returned.any
}

/// Expands one instruction: a function that reports the line of its caller.
pub(crate) fn expand_instruction(item: TokenStream) -> Result<TokenStream> {
    let mut function: ImplItemFn = syn::parse2(item)?;
    std_only::prepare(&mut function.block)?;
    let ImplItemFn { attrs, vis, defaultness, sig, block } = &function;
    Ok(quote! {
        #(#attrs)*
        #[cfg_attr(target_arch = "nvptx64", inline(always))]
        #[cfg_attr(not(target_arch = "nvptx64"), inline, track_caller)]
        #vis #defaultness #sig #block
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

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(options: TokenStream, item: TokenStream) -> String {
        expand(options, item).expect("a device function").to_string()
    }

    #[test]
    fn a_device_function_reports_its_caller_and_its_own_lines() {
        let plain = expanded(
            quote!(),
            quote!(
                pub(super) fn f(self) -> u32 {
                    self.0
                }
            ),
        );
        assert!(plain.contains("track_caller") && plain.contains("inline (always)"), "{plain}");
        assert!(plain.contains("library_call ()"), "{plain}");
        assert!(plain.contains("(move || -> u32 { self . 0 }) ()"), "{plain}");
    }

    #[test]
    fn a_result_that_a_closure_cannot_return_is_returned_directly() {
        for lending in [
            quote!(
                fn f(&mut self) -> &u32 {
                    &self.0
                }
            ),
            quote!(
                fn f(&mut self) -> Guard<'_> {
                    Guard(self)
                }
            ),
        ] {
            let lending = expanded(quote!(), lending);
            assert!(!lending.contains("move"), "{lending}");
        }
        let shared = expanded(
            quote!(),
            quote!(
                fn f(&self) -> Guard<'_> {
                    Guard(self)
                }
            ),
        );
        assert!(shared.contains("move"), "{shared}");
    }

    #[test]
    fn a_function_of_a_protocol_passes_on_its_name() {
        let named = expanded(
            quote!(protocol = "the mail"),
            quote!(
                fn f() {}
            ),
        );
        assert!(named.contains("protocol_call (\"the mail\")"), "{named}");
    }

    #[test]
    fn invalid_device_functions_are_rejected_with_the_reason() {
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
