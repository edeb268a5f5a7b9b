//! The keys with which a person chooses the classes.

/// The keys of four commands: review, skip, stop and undo.
const COMMANDS: [char; 4] = ['r', 's', 'q', 'u'];

/// The key of each class; `None` for a class for which no key is left. The key of a class is never the name of another
/// class.
///
/// If the name of every class is a single letter or digit that is not a command, the names are the keys. Otherwise the
/// keys are 1 to 9, followed by the letters that are not commands. If one of these keys is the name of another class,
/// each class whose name can be a key gets its name as the key, and the other classes get the remaining keys.
/// Lower-case and upper-case letters are different names, but the keys that are not names are lower-case letters.
///
/// ```
/// use halfspaces_labelling::class_keys;
/// let classes = ["cat", "dog"].map(str::to_owned);
/// assert_eq!(class_keys(&classes), [Some('1'), Some('2')]);
/// ```
#[must_use]
pub fn class_keys(classes: &[String]) -> Vec<Option<char>> {
    let own: Vec<Option<char>> = classes.iter().map(|name| own_key(name)).collect();
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
