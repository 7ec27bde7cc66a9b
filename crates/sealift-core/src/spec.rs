use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Names a device and its settings in one string.
///
/// `driver[:setting[,setting…]][(inner)]`, where a setting is `name=value` or a bare word, and the inner
/// device is one that the driver wraps: `library`, `cpu:isa=vaes256,cores=0-3`.
///
/// ```
/// let spec: sealift_core::Spec = "cpu:isa=vaes256,cores=0-3".parse().unwrap();
/// assert_eq!(spec.driver(), "cpu");
/// assert_eq!(spec.setting("isa"), Some("vaes256"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    driver: String,
    settings: Vec<(String, Option<String>)>,
    inner: Option<Box<Spec>>,
}

/// A spec that can't be read.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SpecError {
    /// It doesn't have the form.
    #[error(
        "{spec:?} is no device: {reason}; write driver[:setting,…][(inner)], for example \
         cpu:isa=vaes256"
    )]
    Form {
        /// What was given.
        spec: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A setting the driver doesn't have.
    #[error("{driver} has no setting {setting:?}: it takes {known}")]
    Unknown {
        /// The driver.
        driver: String,
        /// The setting.
        setting: String,
        /// The settings there are.
        known: String,
    },
    /// It should wrap a device and doesn't.
    #[error("{driver} wraps another device: write it in parentheses, as in {driver}(library)")]
    WrapsNothing {
        /// The driver.
        driver: String,
    },
}

impl Spec {
    /// The driver's name.
    #[must_use]
    pub fn driver(&self) -> &str {
        &self.driver
    }

    /// The value of a setting written `name=value`.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(known, _)| known == name)?.1.as_deref()
    }

    /// The bare words among the settings.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.settings.iter().filter(|(_, value)| value.is_none()).map(|(word, _)| word.as_str())
    }

    /// The wrapped device.
    #[must_use]
    pub fn inner(&self) -> Option<&Spec> {
        self.inner.as_deref()
    }

    /// Refuses settings other than `known`, bare words and wrapped devices.
    ///
    /// # Errors
    /// The first that isn't among them.
    pub fn only(&self, known: &[&str]) -> Result<(), SpecError> {
        self.only_settings(known)?;
        match &self.inner {
            Some(inner) => Err(self.unknown(format!("({inner})"), known)),
            None => Ok(()),
        }
    }

    /// The one bare word of a driver that takes one, as in `cards:quad-hifn-7751,number=2`, if there is
    /// any; refuses settings other than `known`, further words and wrapped devices.
    ///
    /// # Errors
    /// The first that isn't among them.
    pub fn word(&self, known: &[&str]) -> Result<Option<&str>, SpecError> {
        let word = self.words().next();
        let taken: Vec<_> = known.iter().copied().chain(word).collect();
        let unknown = |(name, value): &&(String, Option<String>)| match value {
            None => Some(name.as_str()) != word,
            Some(_) => !known.contains(&name.as_str()),
        };
        match (self.settings.iter().find(unknown), &self.inner) {
            (Some((name, _)), _) => Err(self.unknown(name.clone(), &taken)),
            (None, Some(inner)) => Err(self.unknown(format!("({inner})"), &taken)),
            (None, None) => Ok(word),
        }
    }

    /// The wrapped device of a driver that wraps one; refuses settings other than `known`.
    ///
    /// # Errors
    /// The first setting that isn't among them; no device is wrapped.
    pub fn wrapped(&self, known: &[&str]) -> Result<&Self, SpecError> {
        self.only_settings(known)?;
        self.inner().ok_or_else(|| SpecError::WrapsNothing { driver: self.driver.clone() })
    }

    fn only_settings(&self, known: &[&str]) -> Result<(), SpecError> {
        let unknown = |(name, value): &&(String, Option<String>)| {
            value.is_none() || !known.contains(&name.as_str())
        };
        match self.settings.iter().find(unknown) {
            Some((name, _)) => Err(self.unknown(name.clone(), known)),
            None => Ok(()),
        }
    }

    fn unknown(&self, setting: String, known: &[&str]) -> SpecError {
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        SpecError::Unknown { driver: self.driver.clone(), setting, known }
    }
}

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(spec: &str) -> Result<Self, SpecError> {
        if spec.matches('(').count() > WRAPPED_MAX {
            let reason = "it wraps more devices in one another than anybody needs";
            return Err(SpecError::Form { spec: spec.chars().take(80).collect(), reason });
        }
        let fail = |reason| SpecError::Form { spec: spec.to_owned(), reason };
        let (outer, inner) = match spec.split_once('(') {
            None => (spec, None),
            Some((outer, rest)) => {
                let inner = rest
                    .strip_suffix(')')
                    .ok_or_else(|| fail("the parenthesis is not closed at the end"))?;
                (outer, Some(Box::new(inner.parse()?)))
            }
        };
        let (driver, settings) = outer.split_once(':').map_or((outer, None), |(d, s)| (d, Some(s)));
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if driver.is_empty() || !driver.chars().all(plain) {
            return Err(fail("the driver's name is letters, digits, - and _"));
        }
        let settings = settings.map_or(Ok(vec![]), |list| list.split(',').map(setting).collect());
        let settings: Vec<(String, Option<String>)> = settings.map_err(fail)?;
        let twice = |i: usize| settings[..i].iter().any(|(name, _)| *name == settings[i].0);
        if (0..settings.len()).any(twice) {
            return Err(fail("a setting stands twice"));
        }
        Ok(Self { driver: driver.to_owned(), settings, inner })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.driver)?;
        for (i, (name, value)) in self.settings.iter().enumerate() {
            f.write_str(if i == 0 { ":" } else { "," })?;
            f.write_str(name)?;
            value.iter().try_for_each(|value| write!(f, "={value}"))?;
        }
        self.inner.iter().try_for_each(|inner| write!(f, "({inner})"))
    }
}

/// Devices inside one another; a string from outside must not decide how deep the stack gets.
const WRAPPED_MAX: usize = 8;

fn setting(text: &str) -> Result<(String, Option<String>), &'static str> {
    let (name, value) = text.split_once('=').map_or((text, None), |(n, v)| (n, Some(v)));
    if name.is_empty() || value.is_some_and(str::is_empty) || text.contains(')') {
        return Err("a setting is name=value or a word");
    }
    Ok((name.to_owned(), value.map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_are_read_and_written_alike() {
        for text in [
            "cpu",
            "cpu:isa=vaes256,cores=0-3",
            "cuda:1",
            "cards:7751x4",
            "fault:fail=7(cpu:isa=aesni)",
            "fault(fault:late=3(cpu))",
        ] {
            assert_eq!(text.parse::<Spec>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_spec_is_refused() {
        for text in [
            "",
            ":",
            "cpu:",
            "cpu:isa=",
            "cpu:=x",
            "cpu(",
            "cpu(cpu",
            "c u",
            "cpu:isa=a,isa=b",
            "cpu:a)b",
            "fault()",
        ] {
            assert!(text.parse::<Spec>().is_err(), "{text}");
        }
    }

    #[test]
    fn devices_are_wrapped_a_few_times_only() {
        let nested = |depth| ["a(".repeat(depth), "a".into(), ")".repeat(depth)].concat();
        assert!(nested(8).parse::<Spec>().is_ok());
        assert!(nested(9).parse::<Spec>().is_err());
        assert!("a(".repeat(1_000_000).parse::<Spec>().is_err());
    }

    #[test]
    fn unknown_settings_are_named_with_the_known_ones() {
        let spec: Spec = "cpu:ist=vaes256".parse().unwrap();
        let error = spec.only(&["isa", "cores"]).unwrap_err().to_string();
        assert_eq!(error, "cpu has no setting \"ist\": it takes isa, cores");
        assert!("cpu(null)".parse::<Spec>().unwrap().only(&["isa"]).is_err());
        assert!(
            "cpu:3".parse::<Spec>().unwrap().only(&[]).unwrap_err().to_string().contains("none")
        );
    }

    #[test]
    fn a_driver_may_take_one_bare_word() {
        let word = |spec: &str| {
            let spec: Spec = spec.parse().unwrap();
            let word = spec.word(&["number"]).map_err(|error| error.to_string())?;
            Ok::<_, String>(word.map(str::to_owned))
        };
        assert_eq!(word("cards"), Ok(None));
        assert_eq!(word("cards:number=2"), Ok(None));
        assert_eq!(word("cards:number=2,a/b.toml").unwrap().unwrap(), "a/b.toml");
        assert_eq!(word("cards:a,number=2").unwrap().unwrap(), "a");
        let refused = "cards has no setting \"b\": it takes number, a";
        assert_eq!(word("cards:a,b").unwrap_err(), refused);
        assert!(word("cards:a,count=2").unwrap_err().contains("\"count\""));
        assert!(word("cards:a(cpu)").unwrap_err().contains("(cpu)"));
    }

    #[test]
    fn a_driver_that_wraps_gets_the_wrapped_device_and_its_settings_checked() {
        let wrapped = |spec: &str| {
            let spec: Spec = spec.parse().unwrap();
            spec.wrapped(&["percent"]).map(ToString::to_string).map_err(|error| error.to_string())
        };
        assert_eq!(wrapped("slow:percent=5(cpu:isa=aesni)").unwrap(), "cpu:isa=aesni");
        assert_eq!(wrapped("slow(cpu)").unwrap(), "cpu");
        assert!(wrapped("slow:percent=5").unwrap_err().contains("as in slow(library)"));
        assert!(wrapped("slow:share=5(cpu)").unwrap_err().contains("it takes percent"));
        assert!(wrapped("slow:percent(cpu)").unwrap_err().contains("no setting"));
    }
}
