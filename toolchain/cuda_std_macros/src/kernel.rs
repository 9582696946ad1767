//! The expansion of `#[kernel]`.

use crate::{host_only, std_only};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Attribute, Error, FnArg, GenericArgument, ItemFn, LitInt, LitStr, Pat, PathArguments,
    PathSegment, Result, ReturnType, Type, parse::Parser,
};

/// The longest tuple that implements `cuda_std::launch::KernelArgs`.
const MAX_PARAMETERS: usize = 16;

/// Expands one kernel into its device entry point and its host type. A launchable one also gets a
/// type on the device.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let options = Options::parse(options)?;
    let (cooperative, bounds) = (options.cooperative, options.bounds());
    let mut function: ItemFn = syn::parse2(item)?;
    check(&function)?;
    host_only::refuse(&function.block)?;
    std_only::prepare(&mut function.block)?;
    let (names, types) = parameters(&function)?;
    let texts = names.iter().map(|name| quote!(#name).to_string());

    let ItemFn { attrs, vis, sig, block } = &function;
    let (name, inputs) = (&sig.ident, &sig.inputs);
    let prefix = options.prefix.map_or_else(String::new, |prefix| prefix.value());
    let (text, statements) = (format!("{prefix}{name}"), &block.stmts);
    let on_type: Vec<_> = attrs.iter().filter(|attr| belongs_to_type(attr)).collect();
    let on_body = attrs.iter().filter(|attr| belongs_to_body(attr));
    let launchable = options.launchable.then(|| {
        let address = format!("mov.u64 {{}}, {text};");
        quote! {
            // With braces it is only a type. So the function can have the same name.
            #[cfg(target_arch = "nvptx64")]
            #(#on_type)*
            #[allow(non_camel_case_types)]
            #vis struct #name {}

            #[cfg(target_arch = "nvptx64")]
            impl ::cuda_std::launch::Kernel for #name {
                const NAME: &'static str = #text;
                const COOPERATIVE: bool = false;
                type Args = (#(#types,)*);
            }

            // SAFETY: the address is that of the entry generated from the same parameters.
            unsafe impl ::cuda_std::launch::Launchable for #name {
                #[cfg(target_arch = "nvptx64")]
                #[inline(always)]
                fn entry() -> *const ::core::ffi::c_void {
                    let entry: *const ::core::ffi::c_void;
                    // SAFETY: takes an address; does not access memory.
                    unsafe {
                        ::core::arch::asm!(#address, out(reg64) entry,
                            options(pure, nomem, nostack, preserves_flags));
                    }
                    entry
                }
            }
        }
    });
    Ok(quote! {
        #launchable

        #[cfg(target_arch = "nvptx64")]
        #(#attrs)*
        #[unsafe(export_name = #text)]
        // PTX passes an array by value, which C does not.
        #[allow(improper_ctypes_definitions)]
        #vis unsafe extern "ptx-kernel" fn #name(#inputs) {
            #bounds
            #(#statements)*
        }

        #[cfg(not(target_arch = "nvptx64"))]
        #(#on_type)*
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        // Without braces it would also be a constant, and a parameter or a variable of that name
        // in another kernel would be a pattern that matches it.
        #vis struct #name {}

        #[cfg(not(target_arch = "nvptx64"))]
        impl ::cuda_std::launch::Kernel for #name {
            const NAME: &'static str = #text;
            const COOPERATIVE: bool = #cooperative;
            const PARAMETERS: &'static [&'static str] = &[#(#texts),*];
            type Args = (#(#types,)*);

            #(#on_body)*
            #[allow(clippy::unused_unit)]
            unsafe fn run((#(#names,)*): Self::Args) #block
        }
    })
}

/// The options in the parentheses of `#[kernel(..)]`.
#[derive(Default)]
struct Options {
    cooperative: bool,
    launchable: bool,
    max_threads: Option<LitInt>,
    min_blocks: Option<LitInt>,
    max_registers: Option<LitInt>,
    prefix: Option<LitStr>,
}

impl Options {
    fn parse(tokens: TokenStream) -> Result<Self> {
        let mut options = Self::default();
        let parser = syn::meta::parser(|meta| {
            if meta.path.is_ident("cooperative") {
                options.cooperative = true;
            } else if meta.path.is_ident("launchable") {
                options.launchable = true;
            } else if meta.path.is_ident("max_threads") {
                options.max_threads = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("min_blocks") {
                options.min_blocks = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("max_registers") {
                options.max_registers = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("prefix") {
                options.prefix = Some(meta.value()?.parse()?);
            } else {
                let known = "`cooperative`, `launchable`, `max_threads = N`, `min_blocks = N`, \
                             `max_registers = N` and `prefix = \"…\"`";
                let message = format!("unknown kernel option: the options are {known}");
                return Err(meta.error(message));
            }
            Ok(())
        });
        parser.parse2(tokens)?;
        if options.cooperative && options.launchable {
            return Err(Error::new(
                Span::call_site(),
                "a `cooperative` kernel cannot be `launchable`: only the host can make all blocks \
                 of a grid co-resident",
            ));
        }
        if let (None, Some(blocks)) = (&options.max_threads, &options.min_blocks) {
            let message = "`min_blocks` needs `max_threads`: of blocks of which size?";
            return Err(Error::new_spanned(blocks, message));
        }
        if let (Some(_), Some(registers)) = (&options.min_blocks, &options.max_registers) {
            let message = "`min_blocks` and `max_registers` both limit the registers: give one";
            return Err(Error::new_spanned(registers, message));
        }
        Ok(options)
    }

    /// The bounds as PTX directives, in a comment in the body. rustc cannot put them at the head of
    /// an entry; `cuda_builder` moves them there.
    fn bounds(&self) -> Option<TokenStream> {
        let directive = |value: &Option<LitInt>, text: &str| {
            value.as_ref().map(|number| text.replace('N', number.base10_digits()))
        };
        let directives = [
            directive(&self.max_threads, ".maxntid N, 1, 1"),
            directive(&self.min_blocks, ".minnctapersm N"),
            directive(&self.max_registers, ".maxnreg N"),
        ];
        let directives: Vec<_> = directives.into_iter().flatten().collect();
        if directives.is_empty() {
            return None;
        }
        let text = format!("// {}", directives.join(" "));
        Some(quote! {
            // SAFETY: a comment.
            unsafe { ::core::arch::asm!(#text, options(nomem, nostack, preserves_flags)) };
        })
    }
}

fn is_any(attribute: &Attribute, names: &[&str]) -> bool {
    names.iter().any(|name| attribute.path().is_ident(name))
}

/// Whether an attribute of the kernel is copied to its type on the host: attributes of items, and
/// lints, some of which check items. Not `expect`, which must be met exactly once.
fn belongs_to_type(attribute: &Attribute) -> bool {
    is_any(attribute, &["doc", "deprecated", "allow", "warn", "deny", "forbid"])
}

/// Whether an attribute of the kernel is copied to its body on the host: lints, and attributes that
/// only functions can have (`inline`, `cold`, …).
fn belongs_to_body(attribute: &Attribute) -> bool {
    !is_any(attribute, &["doc", "deprecated"])
}

fn check(function: &ItemFn) -> Result<()> {
    let sig = &function.sig;
    if let Some(token) = &sig.asyncness {
        let message = "a kernel cannot be `async`: a grid runs each thread to its end";
        return Err(Error::new_spanned(token, message));
    }
    if let Some(token) = &sig.constness {
        let message = "a kernel cannot be `const`: only a launch runs it";
        return Err(Error::new_spanned(token, message));
    }
    if let Some(abi) = &sig.abi {
        let message = "a kernel cannot name an ABI: `#[kernel]` gives it that of the device";
        return Err(Error::new_spanned(abi, message));
    }
    if let Some(clause) = &sig.generics.where_clause {
        let message = "a kernel cannot have a `where` clause: its types are all known";
        return Err(Error::new_spanned(clause, message));
    }
    let count = sig.inputs.len();
    if count > MAX_PARAMETERS {
        let message = format!(
            "a kernel takes at most {MAX_PARAMETERS} parameters, and this one has {count}: pass \
             some of them in one `Global` view"
        );
        return Err(Error::new_spanned(&sig.inputs, message));
    }
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
        return Err(Error::new_spanned(&sig.output, "a kernel cannot return a value"));
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
            FnArg::Typed(typed) => {
                refuse_host_memory(&typed.pat, &typed.ty)?;
                Ok((&*typed.pat, &*typed.ty))
            }
            FnArg::Receiver(receiver) => {
                Err(Error::new_spanned(receiver, "a kernel cannot take `self`"))
            }
        })
        .collect::<Result<Vec<_>>>()
        .map(|pairs| pairs.into_iter().unzip())
}

/// Rejects a reference, a pointer or a `Vec` as a parameter, and suggests the view to use.
fn refuse_host_memory(pattern: &Pat, ty: &Type) -> Result<()> {
    let (kind, inner) = match ty {
        Type::Reference(reference) => ("a reference", &*reference.elem),
        Type::Ptr(pointer) => ("a pointer", &*pointer.elem),
        // An array whose length is in its type is passed by value.
        Type::Array(_) => return Ok(()),
        ty if element_of(ty).is_some() => ("an array of the host", ty),
        _ => return Ok(()),
    };
    let element = element_of(inner).unwrap_or(inner);
    let (written, element) = (quote!(#pattern: #ty), quote!(#element).to_string());
    let message = format!(
        "a kernel cannot take {kind}: in place of `{}` take `{}: Global<{element}>`",
        plain(&written.to_string()),
        quote!(#pattern)
    );
    Err(Error::new_spanned(ty, message))
}

/// The element of a slice, an array or a `Vec`.
fn element_of(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Slice(slice) => Some(&slice.elem),
        Type::Array(array) => Some(&array.elem),
        Type::Path(path) => match path.path.segments.last()? {
            PathSegment { ident, arguments: PathArguments::AngleBracketed(of) }
                if ident == "Vec" =>
            {
                of.args.iter().find_map(|argument| match argument {
                    GenericArgument::Type(element) => Some(element),
                    _ => None,
                })
            }
            _ => None,
        },
        _ => None,
    }
}

/// Tokens as text, with the usual spacing.
fn plain(tokens: &str) -> String {
    let mut text = tokens.to_owned();
    for (spaced, close) in
        [(" :", ":"), (" ;", ";"), ("& ", "&"), ("* ", "*"), (" <", "<"), ("< ", "<"), (" >", ">")]
    {
        text = text.replace(spaced, close);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(item: &str) -> String {
        let refused = expand(TokenStream::new(), item.parse().expect("Rust"));
        refused.expect_err("not a kernel").to_string()
    }

    #[test]
    fn invalid_kernels_are_rejected_with_the_reason() {
        for (item, word) in [
            ("fn k() {}", "`unsafe fn`"),
            ("async unsafe fn k() {}", "`async`"),
            ("const unsafe fn k() {}", "`const`"),
            (r#"unsafe extern "C" fn k() {}"#, "ABI"),
            ("unsafe fn k() where u32: Copy {}", "`where`"),
            ("unsafe fn k<T>() {}", "generic"),
            ("unsafe fn k() -> u32 { 0 }", "return"),
            ("unsafe fn k(self) {}", "`self`"),
        ] {
            let said = refusal(item);
            assert!(said.contains(word), "{said}");
        }
    }

    #[test]
    fn host_memory_as_a_parameter_is_rejected_with_the_view_to_use() {
        for (parameter, kind, written) in [
            ("values: &mut [f32]", "a reference", "values: &mut [f32]"),
            ("values: &'static [f32]", "a reference", "values: &'static [f32]"),
            ("values: &f32", "a reference", "values: &f32"),
            ("values: &Vec<f32>", "a reference", "values: &Vec<f32>"),
            ("values: *const f32", "a pointer", "values: *const f32"),
            ("values: Vec<f32>", "an array of the host", "values: Vec<f32>"),
            ("values: [f32]", "an array of the host", "values: [f32]"),
        ] {
            let said = refusal(&format!("unsafe fn k({parameter}) {{}}"));
            let remedy = format!("take {kind}: in place of `{written}` take `values: Global<f32>`");
            assert!(said.contains(&remedy), "{said}");
        }
    }

    #[test]
    fn a_kernel_with_seventeen_parameters_is_rejected_with_the_numbers() {
        let kernel = |count: usize| {
            let parameters: String = (0..count).map(|i| format!("a{i}: u32, ")).collect();
            format!("unsafe fn k({parameters}) {{}}")
        };
        let said = refusal(&kernel(17));
        assert!(said.contains("at most 16") && said.contains("has 17"), "{said}");
        let most = expand(TokenStream::new(), kernel(16).parse().expect("Rust"));
        assert!(most.is_ok());
    }

    #[test]
    fn a_name_prefix_applies_on_both_sides() {
        let kernel = quote!(
            unsafe fn sum(a: u32) {}
        );
        let text = expand(quote!(prefix = "scan_"), kernel).expect("a kernel").to_string();
        assert!(text.contains("export_name = \"scan_sum\""), "{text}");
        assert!(text.contains("NAME : & 'static str = \"scan_sum\""), "{text}");
        assert!(text.contains("struct sum"), "{text}");
    }

    #[test]
    fn the_type_of_a_kernel_is_not_also_a_value() {
        let kernel = quote!(
            unsafe fn sum(a: u32) {}
        );
        let text = expand(TokenStream::new(), kernel).expect("a kernel").to_string();
        assert!(text.contains("struct sum { }") && !text.contains("struct sum ;"), "{text}");
    }

    #[test]
    fn a_launchable_kernel_is_also_a_type_on_the_device() {
        let kernel = quote!(
            unsafe fn fill(a: u32) {}
        );
        let plain = expand(TokenStream::new(), kernel.clone()).expect("a kernel").to_string();
        assert!(!plain.contains("Launchable"), "{plain}");
        let text = expand(quote!(launchable, prefix = "lab_"), kernel.clone());
        let text = text.expect("a kernel").to_string();
        assert!(text.matches("struct fill { }").count() == 2, "{text}");
        assert!(text.contains("\"mov.u64 {}, lab_fill;\""), "{text}");
        let both = expand(quote!(launchable, cooperative), kernel).expect_err("not both");
        assert!(both.to_string().contains("co-resident"), "{both}");
    }

    #[test]
    fn launch_bounds_are_a_comment_in_the_body() {
        let options = quote!(max_threads = 512, min_blocks = 2);
        let expanded = expand(
            options,
            quote!(
                unsafe fn k(a: u32) {}
            ),
        )
        .expect("a kernel");
        let text = expanded.to_string();
        assert!(text.contains("\"// .maxntid 512, 1, 1 .minnctapersm 2\""), "{text}");
        let alone = expand(
            quote!(min_blocks = 2),
            quote!(
                unsafe fn k() {}
            ),
        );
        let said = alone.expect_err("no block size").to_string();
        assert!(said.contains("`max_threads`"), "{said}");

        let kernel = quote!(
            unsafe fn k() {}
        );
        let capped = expand(quote!(max_registers = 56), kernel.clone()).expect("a kernel");
        assert!(capped.to_string().contains("\"// .maxnreg 56\""), "{capped}");
        let both = quote!(max_threads = 512, min_blocks = 2, max_registers = 56);
        let said = expand(both, kernel).expect_err("two limits").to_string();
        assert!(said.contains("give one"), "{said}");
    }

    /// The attributes of the host's type and of its `run`, as text.
    fn host_attributes(item: TokenStream) -> (String, String) {
        let expanded = expand(TokenStream::new(), item).expect("a kernel");
        let file: syn::File = syn::parse2(expanded).expect("Rust");
        let text = |attributes: &[Attribute]| quote!(#(#attributes)*).to_string();
        let (mut on_type, mut on_run) = (None, None);
        for item in &file.items {
            match item {
                syn::Item::Struct(host) => on_type = Some(text(&host.attrs)),
                syn::Item::Impl(kernel) => {
                    on_run = kernel.items.iter().find_map(|item| match item {
                        syn::ImplItem::Fn(run) => Some(text(&run.attrs)),
                        _ => None,
                    });
                }
                _ => {}
            }
        }
        (on_type.expect("a type"), on_run.expect("its `run`"))
    }

    #[test]
    fn attributes_are_copied_where_they_apply() {
        let (on_type, on_run) = host_attributes(quote! {
            /// Words.
            #[allow(dead_code)]
            #[expect(unused_variables)]
            #[inline(never)]
            unsafe fn k(a: u32) {}
        });
        for (attribute, there, inside) in [
            ("Words", true, false),
            ("dead_code", true, true),
            ("unused_variables", false, true),
            ("inline", false, true),
        ] {
            assert_eq!(on_type.contains(attribute), there, "{attribute}: {on_type}");
            assert_eq!(on_run.contains(attribute), inside, "{attribute}: {on_run}");
        }
    }
}
