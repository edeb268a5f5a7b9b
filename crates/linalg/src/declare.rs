//! Macros that the crates of the workspace share. The macros generate setters, getters and checked loading, and are not
//! part of the public interface.

/// Declares setters of parameters in an `impl` block: `name: Type,` for the field of that name, `name: Type =>
/// path.to.field,` for another field, and `name: Some(Type),` for an optional field.
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    () => {};
    ($(#[$doc:meta])* $name:ident: Some($of:ty), $($rest:tt)*) => {
        $(#[$doc])*
        pub fn $name(mut self, $name: $of) -> Self {
            self.$name = Some($name);
            self
        }

        $crate::setters! { $($rest)* }
    };
    ($(#[$doc:meta])* $name:ident: $of:ty => $($field:ident).+, $($rest:tt)*) => {
        $(#[$doc])*
        pub fn $name(mut self, $name: $of) -> Self {
            self.$($field).+ = $name;
            self
        }

        $crate::setters! { $($rest)* }
    };
    ($(#[$doc:meta])* $name:ident: $of:ty, $($rest:tt)*) => {
        $crate::setters! { $(#[$doc])* $name: $of => $name, $($rest)* }
    };
}

/// Declares getters of fields in an `impl` block: `name: Type,` for the field of that name, and `name: Type =>
/// path.to.field,` for another field. A getter returns a copy or, for `&Type`, a reference.
#[doc(hidden)]
#[macro_export]
macro_rules! getters {
    () => {};
    ($(#[$doc:meta])* $name:ident: &$of:ty => $($field:ident).+, $($rest:tt)*) => {
        $(#[$doc])*
        #[must_use]
        pub fn $name(&self) -> &$of {
            &self.$($field).+
        }

        $crate::getters! { $($rest)* }
    };
    ($(#[$doc:meta])* $name:ident: &$of:ty, $($rest:tt)*) => {
        $crate::getters! { $(#[$doc])* $name: &$of => $name, $($rest)* }
    };
    ($(#[$doc:meta])* $name:ident: $of:ty => $($field:ident).+, $($rest:tt)*) => {
        $(#[$doc])*
        #[must_use]
        pub fn $name(&self) -> $of {
            self.$($field).+
        }

        $crate::getters! { $($rest)* }
    };
    ($(#[$doc:meta])* $name:ident: $of:ty, $($rest:tt)*) => {
        $crate::getters! { $(#[$doc])* $name: $of => $name, $($rest)* }
    };
}

/// Implements `Deserialize` for a type that is saved field by field. The listed fields are loaded, and the function
/// after `=>` builds a value from them or rejects them. Without a function, all fields must be listed, and the value
/// must pass its own `check_saved`.
#[doc(hidden)]
#[macro_export]
macro_rules! load_checked {
    ($type:ident $(<$($param:ident: $bound:path),+>)? {
        $($(#[$attribute:meta])* $field:ident: $of:ty),* $(,)?
    } => $make:expr) => {
        #[cfg(feature = "serde")]
        impl<'de $($(, $param: $bound + serde::Deserialize<'de>)+)?> serde::Deserialize<'de>
            for $type $(<$($param),+>)?
        {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let ($($field,)*) = {
                    // This type has the same name as the outer type, because error messages show the name.
                    #[derive(serde::Deserialize)]
                    struct $type $(<$($param),+>)? {
                        $($(#[$attribute])* $field: $of,)*
                    }
                    let saved = <$type $(<$($param),+>)? as serde::Deserialize>::deserialize(from)?;
                    ($(saved.$field,)*)
                };
                ($make)($($field),*).map_err(serde::de::Error::custom)
            }
        }
    };
    ($type:ident $(<$($param:ident: $bound:path),+>)? {
        $($(#[$attribute:meta])* $field:ident: $of:ty),* $(,)?
    }) => {
        $crate::load_checked! {
            $type $(<$($param: $bound),+>)? { $($(#[$attribute])* $field: $of),* } => |$($field),*| {
                let loaded = $type { $($field),* };
                loaded.check_saved().map(|()| loaded)
            }
        }
    };
}

/// Implements `Deserialize` for a learner that is saved as its parameters. The loaded parameters must pass their check.
#[doc(hidden)]
#[macro_export]
macro_rules! load_params {
    ($learner:ident $(<$param:ident: $($bound:ident)|+>)? : $params:ty) => {
        #[cfg(feature = "serde")]
        impl<'de $(, $param: $($bound +)+ serde::Deserialize<'de>)?> serde::Deserialize<'de>
            for $learner $(<$param>)?
        {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let params = <$params as serde::Deserialize>::deserialize(from)?;
                $crate::Params::check(params).map_err(serde::de::Error::custom)
            }
        }
    };
}

/// Implements `Classifier` for a type that labels points in the same way as one of its parts.
#[doc(hidden)]
#[macro_export]
macro_rules! classify_by {
    ($type:ty, $($part:tt)+) => {
        impl $crate::Classifier for $type {
            fn dim(&self) -> usize {
                self.$($part)+.dim()
            }

            #[inline]
            fn decision_value<R: $crate::RowView>(&self, x: R) -> Result<f64, $crate::InputError> {
                self.$($part)+.decision_value(x)
            }

            fn label_rows<P: $crate::PointSet>(
                &self,
                points: &P,
                rows: std::ops::Range<usize>,
            ) -> Result<Vec<$crate::Label>, $crate::InputError> {
                self.$($part)+.label_rows(points, rows)
            }
        }
    };
}
