//! Which key stands for which class.

/// Keys that mean something else: review, skip, stop, undo.
const COMMANDS: [char; 4] = ['r', 's', 'q', 'u'];

/// A key per class, as far as there are keys: the classes' own names if each is one character (and none a
/// command), otherwise 1 to 9 and the letters that are no command.
pub(super) fn keys(classes: &[String]) -> Vec<Option<char>> {
    let own = |name: &String| {
        let mut chars = name.chars();
        match (chars.next(), chars.next()) {
            (Some(key), None) if key.is_alphanumeric() && !COMMANDS.contains(&key) => Some(key),
            _ => None,
        }
    };
    let names: Vec<Option<char>> = classes.iter().map(own).collect();
    if names.iter().all(Option::is_some) {
        return names;
    }
    let mut free = ('1'..='9').chain('a'..='z').filter(|key| !COMMANDS.contains(key));
    classes.iter().map(|_| free.next()).collect()
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
        let many: Vec<String> = (0..40).map(|i| format!("class {i}")).collect();
        let keys = keys(&many);
        assert_eq!((keys[9], keys[30], keys[31], keys[39]), (Some('a'), Some('z'), None, None));
        assert!(!keys.iter().flatten().any(|key| COMMANDS.contains(key)));
    }
}
