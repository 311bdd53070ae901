//! The intermediate representation: TypeScript types, between reading a schema and printing.

/// The type of a schema, with the definitions that it refers to.
#[derive(Debug)]
pub struct TypeGraph {
    /// The type of the whole schema.
    pub root: Type,
    /// The comment of the whole schema.
    pub doc: Doc,
    /// The targets of [`Type::Named`].
    pub named: Vec<NamedType>,
}

/// A definition of a schema, which may refer to itself.
#[derive(Debug)]
pub struct NamedType {
    /// The last part of the reference, such as `Node` of `#/$defs/Node`.
    pub name: String,
    pub ty: Type,
    pub doc: Doc,
}

/// A TypeScript type.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    Unknown,
    Never,
    Null,
    Boolean,
    Number,
    String,
    /// A literal type in TypeScript syntax: `"a"`, `5`, `true`.
    Literal(String),
    Array(Box<Type>),
    Tuple(Tuple),
    Object(Object),
    Union(Vec<Type>),
    Intersection(Vec<Type>),
    /// An index into [`TypeGraph::named`].
    Named(usize),
}

/// A tuple type.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuple {
    pub items: Vec<Type>,
    /// How many of the items are required.
    pub required: usize,
    /// The type of the elements after the items.
    pub rest: Option<Box<Type>>,
}

/// An object type.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object {
    pub fields: Vec<Field>,
    /// The index signature for other keys. If there are fields, it is printed as `unknown`, because
    /// TypeScript requires it to be compatible with all of them.
    pub index_signature: Option<Box<IndexSignature>>,
    /// Whether other keys are forbidden. Only used without fields.
    pub closed: bool,
}

/// The type of the values of keys that are not fields.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexSignature {
    pub ty: Type,
    pub doc: Doc,
}

/// A field of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: String,
    pub optional: bool,
    pub ty: Type,
    pub doc: Doc,
}

/// The contents of a type's JSDoc comment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Doc {
    pub text: String,
    /// Tags with their values, such as `minimum` and `5`.
    pub tags: Vec<(String, String)>,
}

impl Doc {
    /// Whether there is nothing to print.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.tags.is_empty()
    }
}

impl Type {
    /// An object with any keys and values.
    pub fn any_object() -> Self {
        Self::Object(Object {
            index_signature: Some(Box::new(IndexSignature {
                ty: Self::Unknown,
                doc: Doc::default(),
            })),
            ..Object::default()
        })
    }

    /// The union of `members`: flat, without duplicates, and simplified where that is exact.
    pub fn union(members: Vec<Self>) -> Self {
        let mut flat: Vec<Self> = Vec::with_capacity(members.len());
        for member in members {
            let inner = match member {
                Self::Union(inner) => inner,
                Self::Never => continue,
                other => vec![other],
            };
            for one in inner {
                if one == Self::Unknown {
                    return Self::Unknown;
                }
                if !flat.contains(&one) {
                    flat.push(one);
                }
            }
        }
        match flat.len() {
            0 => Self::Never,
            1 => flat.swap_remove(0),
            _ => Self::Union(flat),
        }
    }

    /// The intersection of `members`. Objects are merged into one, which reads better.
    pub fn intersection(members: Vec<Self>) -> Self {
        let mut rest: Vec<Self> = Vec::with_capacity(members.len());
        for member in members {
            let inner = match member {
                Self::Intersection(inner) => inner,
                Self::Unknown => continue,
                other => vec![other],
            };
            for one in inner {
                let first = rest
                    .iter()
                    .position(|member| matches!(member, Self::Object(_)));
                match (one, first.map(|at| &mut rest[at])) {
                    (Self::Object(object), Some(Self::Object(first))) => first.merge(object),
                    (one, _) => {
                        if !rest.contains(&one) {
                            rest.push(one);
                        }
                    }
                }
            }
        }
        match rest.len() {
            0 => Self::Unknown,
            1 => rest.swap_remove(0),
            _ if rest.contains(&Self::Never) => Self::Never,
            _ => Self::Intersection(rest),
        }
    }
}

impl Object {
    /// Intersects this object with another.
    fn merge(&mut self, other: Self) {
        for field in other.fields {
            match self.fields.iter_mut().find(|own| own.name == field.name) {
                None => self.fields.push(field),
                Some(own) => {
                    own.optional &= field.optional;
                    if own.doc.is_empty() {
                        own.doc = field.doc;
                    }
                    if own.ty != field.ty {
                        let both = vec![std::mem::replace(&mut own.ty, Type::Unknown), field.ty];
                        own.ty = Type::intersection(both);
                    }
                }
            }
        }
        // One signature is enough: a key that one object leaves out may be described by the other.
        self.index_signature = match (self.index_signature.take(), other.index_signature) {
            (Some(one), Some(two)) => Some(Box::new(IndexSignature {
                ty: Type::intersection(vec![one.ty, two.ty]),
                doc: one.doc,
            })),
            (one, two) => one.or(two),
        };
        self.closed |= other.closed;
    }
}
