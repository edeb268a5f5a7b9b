//! Blocks of lines taken apart on several threads, while one of them fills the next blocks and takes what was read.

use super::error::ReadError;
use halfspaces_linalg::Threads;

/// Blocks that are read at once, for each thread.
const BLOCKS_A_THREAD: usize = 16;

/// What became of a block.
pub(super) enum Taken {
    /// It was taken, and more are wanted.
    More,
    /// It was taken, and no more are.
    Last,
    /// It was not taken.
    Refused,
}

/// What the calling thread came to while the others read.
enum Step {
    /// Everything read was taken, and so many blocks were filled.
    Filled(usize),
    /// The first block, of those read, that was not taken.
    Stopped { untaken: usize },
}

/// Fills blocks from `source` in turn, reads them side by side and takes them in order, each with its text. All but the
/// reading is done by the calling thread. What was filled and not taken is returned.
///
/// `fill` says how many blocks it filled, fewer than there are at the end of the input.
pub(super) fn take_blocks<S, B: Send>(
    source: &mut S,
    threads: Threads,
    fill: impl Fn(&mut S, &mut [Vec<u8>]) -> Result<usize, ReadError>,
    read: impl Fn(&[u8]) -> B + Sync,
    mut take: impl FnMut(&mut S, B, &[u8]) -> Result<Taken, ReadError>,
) -> Result<Vec<u8>, ReadError> {
    let mut texts = vec![Vec::new(); threads.count().saturating_mul(BLOCKS_A_THREAD)];
    let (mut read_texts, mut blocks) = (texts.clone(), Vec::new());
    let mut filled = fill(source, &mut texts)?;
    loop {
        let before = blocks.len();
        let (taken, next) = threads.map_beside(
            || -> Result<Step, ReadError> {
                for (i, (block, text)) in blocks.drain(..).zip(&read_texts).enumerate() {
                    let untaken = match take(source, block, text)? {
                        Taken::More => continue,
                        Taken::Last => i + 1,
                        Taken::Refused => i,
                    };
                    return Ok(Step::Stopped { untaken });
                }
                // A round that was not full was the last.
                let ended = filled < texts.len();
                Ok(Step::Filled(if ended { 0 } else { fill(source, &mut read_texts)? }))
            },
            texts[..filled].iter(),
            || (),
            |(), text| read(text),
        );
        match taken? {
            Step::Stopped { untaken } => {
                return Ok(
                    [read_texts[untaken..before].concat(), texts[..filled].concat()].concat()
                );
            }
            Step::Filled(_) if next.is_empty() => return Ok(Vec::new()),
            Step::Filled(next_filled) => {
                (blocks, filled) = (next, next_filled);
                std::mem::swap(&mut texts, &mut read_texts);
            }
        }
    }
}
