//! Reads one operation.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::body::{self, BodySchema, ReadBody};
use super::parameter;
use super::schema::{Dialect, Direction, SchemaReader};
use super::service::ReadOptions;
use super::{description, extension, response};
use crate::documents::{Documents, Place, ReferenceError};
use crate::operation::{
    Body, BodyForm, Detail, Location, Operation, OperationEffect, Parameter, Schemas, Style,
};
use crate::security::{Requirement, requirements};

/// Headers that take an idempotency key.
const KEY_HEADERS: [&str; 3] = ["idempotency-key", "x-idempotency-key", "idempotency-token"];

/// What an operation takes from the document around it.
pub struct Surroundings<'a> {
    pub documents: &'a Documents,
    pub dialect: Dialect,
    pub path_item: Place<'a>,
    /// The media types of Swagger 2.0.
    pub consumes: Vec<&'a str>,
    pub produces: Vec<&'a str>,
    /// The security of the document.
    pub security: Option<&'a [Requirement]>,
    pub options: &'a ReadOptions,
}

/// An operation of a document.
#[derive(Clone, Copy)]
pub struct Found<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub place: Place<'a>,
}

/// A parameter with its schema and its text. One that is not declared is a text.
struct ReadParameter<'a> {
    parameter: Parameter,
    schema: Option<Place<'a>>,
    description: Option<&'a str>,
}

/// Reads an operation with the name that `name` gives it. `fits` says whether a tool is within the
/// limits of its reader.
///
/// # Errors
/// The reason why it is no tool.
pub fn read<'a>(
    found: Found<'a>,
    around: &Surroundings<'a>,
    name: impl FnOnce(Option<&str>) -> String,
    fits: &dyn Fn(&Value) -> bool,
) -> Result<Option<Operation>, String> {
    let Found {
        method,
        path,
        place,
    } = found;
    let extension = extension::read(place);
    if extension.is_disabled {
        return Ok(None);
    }
    let places = parameters_of(around, place).map_err(|error| error.to_string())?;
    let mut parameters = tool_parameters(around, path, &places);
    let mut body = body_of(around, place, &places).map_err(|error| error.to_string())?;
    name_arguments(&mut parameters, body.as_mut().map(|body| &mut body.body));
    let effect = effect_of(method, &parameters);
    let plain: Vec<Parameter> = parameters.iter().map(|it| it.parameter.clone()).collect();
    let id = extension
        .name
        .as_deref()
        .or_else(|| place.text("operationId"));
    let mut operation = Operation {
        name: name(id),
        method: method.to_ascii_uppercase(),
        path: path.to_owned(),
        parameters: plain,
        body: body.as_ref().map(|body| body.body.clone()),
        effect,
        security: requirements(place.value.get("security"))
            .or_else(|| around.security.map(<[Requirement]>::to_vec)),
        server: None,
        error_patterns: extension.error_patterns.clone(),
        tags: place
            .items("tags")
            .filter_map(|tag| tag.value.as_str())
            .map(str::to_owned)
            .collect(),
        accepts: response::accepts(around.documents, place, &around.produces),
        title: place
            .text("summary")
            .map(|text| text.trim().to_owned())
            .filter(|text| !text.is_empty()),
        description: String::new(),
        schemas: Schemas::default(),
    };
    let mut last = None;
    for detail in Detail::ALL {
        let input = input_schema(around, detail, &operation, &parameters, body.as_ref())
            .map_err(|error| error.to_string())?;
        let output = output_schema(around, detail, place);
        let defs = output.as_ref().and_then(|output| output.get("$defs"));
        let paging = description::paging(&operation.parameters, output.as_ref(), defs);
        if last.is_none() {
            operation.description =
                description::describe(place, &operation.method, path, paging, &extension);
        }
        operation.schemas = Schemas {
            input: Arc::new(input),
            output: output.map(Arc::new),
        };
        if fits(&operation.tool()) {
            return Ok(Some(operation));
        }
        // Results are described as far as there is room.
        operation.schemas.output = None;
        let tool = operation.tool();
        if fits(&tool) && detail != Detail::Full {
            return Ok(Some(operation));
        }
        last = Some(tool);
    }
    Err("its schemas are too large".to_owned())
}

/// The parameters of the path and of the operation, which wins; references followed.
fn parameters_of<'a>(
    around: &Surroundings<'a>,
    operation: Place<'a>,
) -> Result<Vec<Place<'a>>, ReferenceError> {
    let mut all: Vec<Place<'a>> = Vec::new();
    let listed = around
        .path_item
        .items("parameters")
        .chain(operation.items("parameters"));
    for place in listed {
        let place = around.documents.follow(place)?;
        let key = |place: Place<'a>| (place.text("name"), place.text("in"));
        match all.iter_mut().find(|other| key(**other) == key(place)) {
            Some(other) => *other = place,
            None => all.push(place),
        }
    }
    Ok(all)
}

/// The parameters that are arguments of the tool: those of the path first.
fn tool_parameters<'a>(
    around: &Surroundings<'a>,
    path: &str,
    places: &[Place<'a>],
) -> Vec<ReadParameter<'a>> {
    let in_path = placeholders(path);
    let mut all: Vec<ReadParameter<'a>> = Vec::new();
    for place in places {
        let Some((parameter, schema)) = parameter::read(*place) else {
            continue;
        };
        let is_fixed = parameter.location == Location::Header
            && around
                .options
                .fixed_headers
                .iter()
                .any(|name| name.eq_ignore_ascii_case(&parameter.name));
        let is_elsewhere =
            parameter.location == Location::Path && !in_path.contains(&parameter.name.as_str());
        if !is_fixed && !is_elsewhere {
            all.push(ReadParameter {
                parameter,
                schema: Some(schema),
                description: place.text("description"),
            });
        }
    }
    // Some documents forget to declare a parameter of the path.
    for name in in_path {
        let is_declared = |it: &ReadParameter<'_>| {
            it.parameter.location == Location::Path && it.parameter.name == name
        };
        if !all.iter().any(is_declared) {
            all.push(ReadParameter {
                parameter: Parameter {
                    name: name.to_owned(),
                    argument: name.to_owned(),
                    location: Location::Path,
                    required: true,
                    style: Style::Simple,
                    explode: false,
                    allow_reserved: false,
                },
                schema: None,
                description: None,
            });
        }
    }
    all.sort_by_key(|it| it.parameter.location);
    all
}

/// The names in the braces of a path.
pub fn placeholders(path: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = path;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else {
            break;
        };
        if !names.contains(&name) {
            names.push(name);
        }
        rest = behind;
    }
    names
}

fn body_of<'a>(
    around: &Surroundings<'a>,
    operation: Place<'a>,
    parameters: &[Place<'a>],
) -> Result<Option<ReadBody<'a>>, ReferenceError> {
    match operation.get("requestBody") {
        Some(place) => {
            let place = around.documents.follow(place)?;
            Ok(body::read(around.documents, place))
        }
        None => Ok(body::read_old(parameters, &around.consumes)),
    }
}

fn name_arguments(parameters: &mut [ReadParameter<'_>], body: Option<&mut Body>) {
    let mut plain: Vec<Parameter> = parameters.iter().map(|it| it.parameter.clone()).collect();
    parameter::name_arguments(&mut plain);
    for (read, plain) in parameters.iter_mut().zip(&plain) {
        read.parameter.argument.clone_from(&plain.argument);
    }
    if let Some(body) = body {
        let is_taken = |name: &str| plain.iter().any(|it| it.argument == name);
        while is_taken(&body.argument) {
            body.argument.insert_str(0, "request_");
        }
    }
}

fn effect_of(method: &str, parameters: &[ReadParameter<'_>]) -> OperationEffect {
    let key = parameters.iter().map(|it| &it.parameter).find(|it| {
        it.location == Location::Header
            && KEY_HEADERS
                .iter()
                .any(|name| it.name.eq_ignore_ascii_case(name))
    });
    match (method.to_ascii_uppercase().as_str(), key) {
        ("GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY", _) => OperationEffect::Read,
        ("PUT" | "DELETE", _) => OperationEffect::Idempotent,
        (_, Some(key)) => OperationEffect::Keyed(key.argument.clone()),
        _ => OperationEffect::Guarded,
    }
}

fn input_schema(
    around: &Surroundings<'_>,
    detail: Detail,
    operation: &Operation,
    parameters: &[ReadParameter<'_>],
    body: Option<&ReadBody<'_>>,
) -> Result<Value, ReferenceError> {
    let (documents, dialect) = (around.documents, around.dialect);
    let mut reader = SchemaReader::new(documents, dialect, Direction::Input, detail);
    let mut properties = Map::new();
    let mut required = Vec::new();
    for ReadParameter {
        parameter,
        schema,
        description,
    } in parameters
    {
        let mut schema = match schema {
            Some(schema) => reader.read(*schema),
            None => json!({ "type": "string" }),
        };
        if detail == Detail::Full
            && let Some(text) = description
            && let Value::Object(schema) = &mut schema
            && (dialect == Dialect::JsonSchema || !schema.contains_key("$ref"))
        {
            let end = text
                .char_indices()
                .nth(400)
                .map_or(text.len(), |(end, _)| end);
            schema.insert("description".to_owned(), text[..end].into());
        }
        properties.insert(parameter.argument.clone(), schema);
        let is_key = operation.effect == OperationEffect::Keyed(parameter.argument.clone());
        if parameter.required && !is_key {
            required.push(Value::from(parameter.argument.as_str()));
        }
    }
    if let Some(read) = body {
        properties.insert(
            read.body.argument.clone(),
            body_schema(documents, &mut reader, read),
        );
        if read.body.required {
            required.push(Value::from(read.body.argument.as_str()));
        }
    }
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    let (defs, problem) = reader.into_defs();
    if let Some(problem) = problem {
        return Err(problem);
    }
    if !defs.is_empty() {
        schema["$defs"] = defs.into();
    }
    Ok(schema)
}

fn body_schema<'a>(
    documents: &'a Documents,
    reader: &mut SchemaReader<'a>,
    read: &ReadBody<'a>,
) -> Value {
    let is_form = matches!(read.body.form, BodyForm::UrlEncoded | BodyForm::Multipart);
    let mut schema = match &read.schema {
        BodySchema::Schema(place) if is_form => {
            reader.read(documents.follow(*place).unwrap_or(*place))
        }
        BodySchema::Schema(place) => reader.read(*place),
        BodySchema::ListOf(place) => json!({ "type": "array", "items": reader.read(*place) }),
        BodySchema::Fixed(schema) => schema.clone(),
        BodySchema::Form(fields) => {
            let mut properties = Map::new();
            let mut required = Vec::new();
            for (name, is_required, schema) in fields {
                properties.insert(name.clone(), reader.read(*schema));
                if *is_required {
                    required.push(Value::from(name.as_str()));
                }
            }
            let mut schema = json!({ "type": "object", "properties": properties });
            if !required.is_empty() {
                schema["required"] = required.into();
            }
            schema
        }
    };
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, encoding) in &read.body.encodings {
            let Some(property) = properties.get_mut(name).filter(|_| encoding.is_bytes) else {
                continue;
            };
            *property = match property["type"] == "array" {
                true => json!({ "type": "array", "items": body::file_schema() }),
                false => body::file_schema(),
            };
        }
    }
    schema
}

fn output_schema(around: &Surroundings<'_>, detail: Detail, place: Place<'_>) -> Option<Value> {
    let mut reader = SchemaReader::new(around.documents, around.dialect, Direction::Output, detail);
    let mut schema = response::output(around.documents, place, &mut reader)?;
    // What cannot be followed in a result is left open.
    let (defs, _) = reader.into_defs();
    if let (false, Value::Object(schema)) = (defs.is_empty(), &mut schema) {
        schema.insert("$defs".to_owned(), defs.into());
    }
    Some(schema)
}
