//! Which key stands for which class.

/// Keys that mean something else: review, skip, stop, undo.
const COMMANDS: [char; 4] = ['r', 's', 'q', 'u'];

/// A key for each class, as far as there are keys. What is shown as the key of a class never means another class.
///
/// If the name of each class is one letter or digit, and none a command, these are the keys. Otherwise the keys are 1 to 9
/// and the letters that are no command. If one of these is the name of another class, each class whose name can be a key
/// has that key, and the others have those that are left.
pub(super) fn keys(classes: &[String]) -> Vec<Option<char>> {
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

/// The name of a class, if it can be its key.
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
        keys(&classes.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn classes_of_one_character_are_their_own_keys() {
        assert_eq!(of(&["0", "1", "x"]), [Some('0'), Some('1'), Some('x')]);
        // "s" skips.
        assert_eq!(of(&["s", "t"]), [Some('1'), Some('2')]);
        assert_eq!(of(&["cat", "d"]), [Some('1'), Some('2')]);
        // "1" is the name of a class, so that it is the key of no other one.
        assert_eq!(of(&["s", "1", "dog"]), [Some('2'), Some('1'), Some('3')]);
        let scores: Vec<String> = (0..=10).map(|i| i.to_string()).collect();
        let keys_of_scores = keys(&scores);
        assert_eq!((keys_of_scores[0], keys_of_scores[9]), (Some('0'), Some('9')));
        assert_eq!(keys_of_scores[10], Some('a'));
        let many: Vec<String> = (0..40).map(|i| format!("class {i}")).collect();
        let keys = keys(&many);
        assert_eq!((keys[9], keys[30], keys[31], keys[39]), (Some('a'), Some('z'), None, None));
        assert!(!keys.iter().flatten().any(|key| COMMANDS.contains(key)));
    }
}
