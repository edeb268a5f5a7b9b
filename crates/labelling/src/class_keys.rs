//! The keys with which a person chooses the classes.

use halfspaces_frame::ClassKey;

/// The keys of four commands: review, skip, stop and undo.
const COMMANDS: [char; 4] = ['r', 's', 'q', 'u'];

/// The key of each class; `None` for a class for which no key is left. The key of a class is never the name of another
/// class.
///
/// A name can be a key if it is a single letter or digit that is not a command, or if it denotes a digit, as `1.0`, `01`
/// and `true` denote 1. If this is true of every class, the names are the keys. Otherwise the keys are 1 to 9, followed by
/// the letters that are not commands. If one of these keys is the name of another class, each class whose name can be a
/// key gets its name as the key, and the other classes get the remaining keys. Lower-case and upper-case letters are
/// different names, but the keys that are not names are lower-case letters.
///
/// ```
/// use halfspaces_labelling::class_keys;
/// let classes = ["cat", "dog"].map(str::to_owned);
/// assert_eq!(class_keys(&classes), [Some('1'), Some('2')]);
/// let numbers = ["0.0", "1.0"].map(str::to_owned);
/// assert_eq!(class_keys(&numbers), [Some('0'), Some('1')]);
/// ```
#[must_use]
pub fn class_keys(classes: &[String]) -> Vec<Option<char>> {
    let mut own: Vec<Option<char>> = classes.iter().map(|name| own_key(name)).collect();
    for (name, place) in classes.iter().zip(0..) {
        let digit = digit_of(name).filter(|digit| !own.contains(&Some(*digit)));
        own[place] = own[place].or(digit);
    }
    if own.iter().all(Option::is_some) {
        return own;
    }
    let mut free = free_keys();
    let numbered: Vec<Option<char>> = classes.iter().map(|_| free.next()).collect();
    let is_taken = |key: &Option<char>| key.is_some() && own.contains(key);
    if numbered.iter().zip(&own).all(|(key, own)| key == own || !is_taken(key)) {
        return numbered;
    }
    let mut free = free_keys().filter(|key| !own.contains(&Some(*key)));
    own.iter().map(|key| key.or_else(|| free.next())).collect()
}

/// The name of a class, if it can be used as a key.
fn own_key(name: &str) -> Option<char> {
    let mut chars = name.chars();
    match (chars.next(), chars.next()) {
        (Some(key), None) if key.is_alphanumeric() && !COMMANDS.contains(&key) => Some(key),
        _ => None,
    }
}

/// The digit that a name denotes.
fn digit_of(name: &str) -> Option<char> {
    let name = match name.to_lowercase().as_str() {
        "true" => "1".to_owned(),
        "false" => "0".to_owned(),
        // A code, such as `01`.
        code if code.bytes().all(|b| b.is_ascii_digit()) => code.trim_start_matches('0').to_owned(),
        _ => name.to_owned(),
    };
    let number = ClassKey::of(if name.is_empty() { "0" } else { &name }).number()?;
    ('0'..='9')
        .zip(0..)
        .find(|(_, digit)| f64::from(*digit).total_cmp(&number).is_eq())
        .map(|f| f.0)
}

fn free_keys() -> impl Iterator<Item = char> {
    ('1'..='9').chain('a'..='z').filter(|key| !COMMANDS.contains(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(classes: &[&str]) -> Vec<Option<char>> {
        class_keys(&classes.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn classes_of_one_character_are_their_own_keys() {
        assert_eq!(of(&["0", "1", "x"]), [Some('0'), Some('1'), Some('x')]);
        // `s` is a command.
        assert_eq!(of(&["s", "t"]), [Some('1'), Some('2')]);
        assert_eq!(of(&["cat", "d"]), [Some('1'), Some('2')]);
        // `1` is the name of a class, so it is not the key of another one.
        assert_eq!(of(&["s", "1", "dog"]), [Some('2'), Some('1'), Some('3')]);
        // A digit is never the key of another class than the one that it denotes.
        assert_eq!(of(&["0.0", "1.0"]), [Some('0'), Some('1')]);
        assert_eq!(of(&["2.0", "1.0"]), [Some('2'), Some('1')]);
        assert_eq!(of(&["02", "01", "00"]), [Some('2'), Some('1'), Some('0')]);
        assert_eq!(of(&["-1", "+1"]), [Some('2'), Some('1')]);
        assert_eq!(of(&["False", "true"]), [Some('0'), Some('1')]);
        assert_eq!(of(&["1.0", "1", "one"]), [Some('2'), Some('1'), Some('3')]);
        assert_eq!(of(&["1.5", "2.5"]), [Some('1'), Some('2')]);
        let scores: Vec<String> = (0..=10).map(|i| i.to_string()).collect();
        let keys_of_scores = class_keys(&scores);
        assert_eq!((keys_of_scores[0], keys_of_scores[9]), (Some('0'), Some('9')));
        assert_eq!(keys_of_scores[10], Some('a'));
        let many: Vec<String> = (0..40).map(|i| format!("class {i}")).collect();
        let keys = class_keys(&many);
        assert_eq!((keys[9], keys[30], keys[31], keys[39]), (Some('a'), Some('z'), None, None));
        assert!(!keys.iter().flatten().any(|key| COMMANDS.contains(key)));
    }
}
