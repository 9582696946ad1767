//! The expansion of `#[kernel]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Error, FnArg, Ident, ItemFn, Pat, Result, ReturnType, Token, parse::Parser,
    punctuated::Punctuated,
};

/// Expands one kernel into its device entry point and its host type.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let cooperative = is_cooperative(options)?;
    let function: ItemFn = syn::parse2(item)?;
    check(&function)?;
    let (names, types) = parameters(&function)?;

    let ItemFn {
        attrs,
        vis,
        sig,
        block,
    } = &function;
    let (name, inputs) = (&sig.ident, &sig.inputs);
    let text = name.to_string();
    Ok(quote! {
        #[cfg(target_arch = "nvptx64")]
        #(#attrs)*
        #[unsafe(no_mangle)]
        #vis unsafe extern "ptx-kernel" fn #name(#inputs) #block

        #[cfg(not(target_arch = "nvptx64"))]
        #(#attrs)*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #vis struct #name;

        #[cfg(not(target_arch = "nvptx64"))]
        impl ::cuda_std::launch::Kernel for #name {
            const NAME: &'static str = #text;
            const COOPERATIVE: bool = #cooperative;
            type Args = (#(#types,)*);

            #[allow(clippy::unused_unit)]
            unsafe fn run((#(#names,)*): Self::Args) #block
        }
    })
}

fn is_cooperative(options: TokenStream) -> Result<bool> {
    let options = Punctuated::<Ident, Token![,]>::parse_terminated.parse2(options)?;
    let mut cooperative = false;
    for option in &options {
        if option != "cooperative" {
            let message =
                format!("unknown kernel option `{option}`: the options are `cooperative`");
            return Err(Error::new_spanned(option, message));
        }
        cooperative = true;
    }
    Ok(cooperative)
}

fn check(function: &ItemFn) -> Result<()> {
    let sig = &function.sig;
    if sig.unsafety.is_none() {
        return Err(Error::new_spanned(
            sig.fn_token,
            "a kernel must be an `unsafe fn`: whoever launches it answers for its arguments",
        ));
    }
    if !sig.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &sig.generics,
            "a kernel cannot be generic: stamp one kernel per type with a macro",
        ));
    }
    if !matches!(sig.output, ReturnType::Default) {
        return Err(Error::new_spanned(
            &sig.output,
            "a kernel cannot return a value",
        ));
    }
    Ok(())
}

/// The patterns and types of the parameters.
fn parameters(function: &ItemFn) -> Result<(Vec<&Pat>, Vec<&syn::Type>)> {
    function
        .sig
        .inputs
        .iter()
        .map(|input| match input {
            FnArg::Typed(typed) => Ok((&*typed.pat, &*typed.ty)),
            FnArg::Receiver(receiver) => {
                Err(Error::new_spanned(receiver, "a kernel cannot take `self`"))
            }
        })
        .collect::<Result<Vec<_>>>()
        .map(|pairs| pairs.into_iter().unzip())
}
