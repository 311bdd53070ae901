//! The settings of one guard: those of the preset, those of the operator, and those for single tools.

use pml_policy::tool_glob::ToolGlob;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::config::{GuardsError, Preset};
use crate::level::Level;
use crate::name::GuardName;

/// The settings of a guard.
pub(crate) trait Settings: DeserializeOwned {
    /// The guard.
    const NAME: GuardName;

    /// The settings of the preset `strict`.
    fn strict() -> Value;

    /// The settings of the preset `default`.
    fn standard() -> Value;

    /// What happens to a call that the guard objects to.
    fn level(&self) -> Level;

    /// Checks what the types cannot.
    ///
    /// # Errors
    /// A setting makes no sense; the text says which.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The settings of a guard for every tool.
#[derive(Debug)]
pub(crate) struct Rules<S> {
    all: S,
    /// The most specific pattern first.
    tools: Vec<(ToolGlob, S)>,
}

impl<S: Settings> Rules<S> {
    /// Reads what the operator wrote for a guard on top of a preset: a verdict, or settings with a map
    /// `tools` of the same by pattern.
    pub fn read(preset: Preset, written: Option<&Value>) -> Result<Self, GuardsError> {
        let fail = |at: &str, message: String| GuardsError {
            guard: S::NAME.as_str().to_owned(),
            at: at.to_owned(),
            message,
        };
        let mut base = preset_of::<S>(preset);
        let mut by_tool = Map::new();
        if let Some(written) = written {
            let mut written = object(written).map_err(|message| fail("", message))?;
            match written.remove("tools") {
                None => {}
                Some(Value::Object(tools)) => by_tool = tools,
                Some(_) => return Err(fail("tools", "expected an object of patterns".to_owned())),
            }
            let says_nothing = written.is_empty();
            overlay(&mut base, written, preset, says_nothing);
        }
        let all = parse::<S>(&base).map_err(|message| fail("", message))?;
        let mut tools = Vec::new();
        for (glob, written) in by_tool {
            let parsed = glob.parse::<ToolGlob>();
            let parsed = parsed.map_err(|error| fail("tools", error.to_string()))?;
            let mut settings = base.clone();
            let written = object(&written).map_err(|message| fail(&glob, message))?;
            overlay(&mut settings, written, preset, false);
            let settings = parse::<S>(&settings).map_err(|message| fail(&glob, message))?;
            tools.push((parsed, settings));
        }
        tools.sort_by_key(|(glob, _)| {
            let letters = |side: &str| side.chars().filter(|c| !"*?".contains(*c)).count();
            (
                std::cmp::Reverse(letters(glob.server()) + letters(glob.tool())),
                glob.clone(),
            )
        });
        Ok(Self { all, tools })
    }

    /// The settings for a tool: those of the most specific pattern, else those for all tools. `None`
    /// where the guard does not look.
    pub fn of(&self, tool: &str) -> Option<&S> {
        let named = self.tools.iter().find(|(glob, _)| glob.matches(tool));
        let settings = named.map_or(&self.all, |(_, settings)| settings);
        (settings.level() != Level::Off).then_some(settings)
    }

    /// All settings.
    pub fn settings(&self) -> impl Iterator<Item = &S> {
        self.tools
            .iter()
            .map(|(_, settings)| settings)
            .chain([&self.all])
    }

    /// Whether the guard looks at any tool.
    pub fn is_used(&self) -> bool {
        self.settings()
            .any(|settings| settings.level() != Level::Off)
    }
}

fn preset_of<S: Settings>(preset: Preset) -> Map<String, Value> {
    let settings = match preset {
        Preset::Strict | Preset::Observe => S::strict(),
        Preset::Default => S::standard(),
    };
    let mut settings = object(&settings).unwrap_or_default();
    if preset == Preset::Observe {
        settings.insert("verdict".to_owned(), json!("warn"));
    }
    settings
}

/// Puts what is written over the settings. Settings without a verdict switch a guard on that the
/// preset leaves off.
fn overlay(
    base: &mut Map<String, Value>,
    written: Map<String, Value>,
    preset: Preset,
    says_nothing: bool,
) {
    let is_off = base.get("verdict") == Some(&json!("off"));
    if is_off && !says_nothing && !written.contains_key("verdict") {
        let verdict = match preset {
            Preset::Observe => "warn",
            Preset::Strict | Preset::Default => "block",
        };
        base.insert("verdict".to_owned(), json!(verdict));
    }
    base.extend(written);
}

fn object(written: &Value) -> Result<Map<String, Value>, String> {
    match written {
        Value::Object(settings) => Ok(settings.clone()),
        Value::String(verdict) => Ok(Map::from_iter([("verdict".to_owned(), json!(verdict))])),
        _ => Err("expected a verdict, such as `\"warn\"`, or an object of settings".to_owned()),
    }
}

fn parse<S: Settings>(settings: &Map<String, Value>) -> Result<S, String> {
    let parsed = S::deserialize(Value::Object(settings.clone()));
    let parsed = parsed.map_err(|error| error.to_string())?;
    if parsed.level() == Level::Repair && !S::NAME.can_repair() {
        return Err(format!(
            "the guard `{}` cannot repair: write `warn` or `block`",
            S::NAME
        ));
    }
    parsed.check()?;
    Ok(parsed)
}
