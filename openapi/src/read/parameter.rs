//! Parameters of OpenAPI 3 and Swagger 2.0.

use serde_json::Value;

use crate::documents::Place;
use crate::operation::{Location, Parameter, Style};

/// Headers that are not parameters: the request sets them by other means.
const OWN_HEADERS: [&str; 7] = [
    "accept",
    "content-type",
    "authorization",
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
];

/// Reads a parameter whose reference was followed, and its schema. `None` for one that is no parameter
/// of a tool.
pub fn read<'a>(place: Place<'a>) -> Option<(Parameter, Place<'a>)> {
    let name = place.text("name")?;
    let location = Location::read(place.text("in")?)?;
    let is_own = OWN_HEADERS.iter().any(|own| name.eq_ignore_ascii_case(own));
    if location == Location::Header && (is_own || !is_header_name(name)) {
        return None;
    }
    let content = place.entries("content").next();
    let (style, explode) = match content {
        Some((media, _)) if media.contains("urlencoded") => (Style::Form, true),
        Some((media, _)) if media.starts_with("text/") => (default_style(location), false),
        Some(_) => (Style::Json, false),
        None => style(place, location),
    };
    let schema = match content {
        Some((_, media)) => media.get("schema"),
        None => place.get("schema"),
    };
    let parameter = Parameter {
        name: name.to_owned(),
        argument: name.to_owned(),
        location,
        required: location == Location::Path || place.is("required"),
        style,
        explode,
        allow_reserved: place.is("allowReserved"),
    };
    // A parameter of Swagger 2.0 is its own schema.
    Some((parameter, schema.unwrap_or(place)))
}

fn is_header_name(name: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_sign)
}

fn default_style(location: Location) -> Style {
    match location {
        Location::Path | Location::Header => Style::Simple,
        Location::Query | Location::QueryString | Location::Cookie => Style::Form,
    }
}

fn style(place: Place<'_>, location: Location) -> (Style, bool) {
    if let Some(format) = place.text("collectionFormat") {
        return match format {
            "multi" => (Style::Form, true),
            "ssv" => (Style::SpaceDelimited, false),
            "tsv" => (Style::TabDelimited, false),
            "pipes" => (Style::PipeDelimited, false),
            _ => (default_style(location), false),
        };
    }
    let is_old = place.get("schema").is_none() && place.get("type").is_some();
    let style = match (place.text("style"), location) {
        (Some("simple"), _) => Style::Simple,
        (Some("label"), Location::Path) => Style::Label,
        (Some("matrix"), Location::Path) => Style::Matrix,
        (Some("form"), _) => Style::Form,
        (Some("spaceDelimited"), _) => Style::SpaceDelimited,
        (Some("pipeDelimited"), _) => Style::PipeDelimited,
        (Some("deepObject"), _) => Style::DeepObject,
        (Some("cookie"), Location::Cookie) => Style::Cookie,
        _ => default_style(location),
    };
    // Swagger 2.0 joins by commas unless it says `multi`.
    let default = !is_old && matches!(style, Style::Form | Style::DeepObject | Style::Cookie);
    let explode = place.value.get("explode").and_then(Value::as_bool);
    (style, explode.unwrap_or(default))
}

/// Gives every parameter an argument of its own: of two with one name, the later ones are called after
/// their place as well.
pub fn name_arguments(parameters: &mut [Parameter]) {
    for n in 0..parameters.len() {
        let (before, rest) = parameters.split_at_mut(n);
        let parameter = &mut rest[0];
        let is_taken = |name: &str| before.iter().any(|other| other.argument == name);
        if is_taken(&parameter.argument) {
            parameter.argument = format!("{}_{}", parameter.name, parameter.location.as_str());
        }
        let mut number = 1;
        while is_taken(&parameter.argument) {
            number += 1;
            parameter.argument = format!(
                "{}_{}_{number}",
                parameter.name,
                parameter.location.as_str()
            );
        }
    }
}
