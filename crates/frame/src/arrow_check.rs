//! Validates the lengths stated in an Arrow file before the reader relies on them.
//!
//! The Arrow crates slice buffers by offsets and lengths from the file, and panic if these reach beyond the message.
//! They also allocate a decompressed buffer of whatever length the file states.

use crate::budget::Budget;
use arrow_ipc::{Block, CompressionType, RecordBatch, root_as_footer, root_as_message};

const CONTINUATION: &[u8] = &[0xff; 4];
const MAGIC: &[u8] = b"ARROW1";

/// The largest compression ratio of LZ4. In a long match, each byte encodes 255 bytes.
const LZ4_RATIO: u64 = 255;

/// Validates a whole file or stream. The error describes the fault.
pub(crate) fn check(bytes: &[u8], budget: &Budget) -> Result<(), String> {
    if bytes.starts_with(MAGIC) { check_file(bytes, budget) } else { check_stream(bytes, budget) }
}

fn check_file(bytes: &[u8], budget: &Budget) -> Result<(), String> {
    let cut = || "its end is missing; the file is cut off".to_owned();
    let rest = bytes.strip_suffix(MAGIC).ok_or_else(cut)?;
    let (rest, length) = rest.split_last_chunk::<4>().ok_or_else(cut)?;
    let length = usize::try_from(i32::from_le_bytes(*length)).map_err(|_| cut())?;
    let start = rest.len().checked_sub(length).ok_or_else(cut)?;
    let footer =
        root_as_footer(&rest[start..]).map_err(|e| format!("its footer is damaged: {e}"))?;
    let blocks = footer.dictionaries().into_iter().flatten();
    for block in blocks.chain(footer.recordBatches().into_iter().flatten()) {
        check_block(rest, block, budget)?;
    }
    Ok(())
}

fn check_block(bytes: &[u8], block: &Block, budget: &Budget) -> Result<(), String> {
    let outside = || "a batch lies outside the file".to_owned();
    let number = |n: i64| usize::try_from(n).map_err(|_| outside());
    let (start, head) = (number(block.offset())?, number(block.metaDataLength().into())?);
    let middle = start.checked_add(head).ok_or_else(outside)?;
    let end = middle.checked_add(number(block.bodyLength())?).ok_or_else(outside)?;
    let message = bytes.get(start..middle).ok_or_else(outside)?;
    let body = bytes.get(middle..end).ok_or_else(outside)?;
    let prefix = if message.starts_with(CONTINUATION) { 8 } else { 4 };
    check_message(message.get(prefix..).ok_or_else(outside)?, body, budget)
}

fn check_stream(bytes: &[u8], budget: &Budget) -> Result<(), String> {
    let cut = || "it ends within a message; the stream is cut off".to_owned();
    let mut rest = bytes;
    // A stream may end without an end marker, but only between messages.
    while !rest.is_empty() {
        rest = rest.strip_prefix(CONTINUATION).unwrap_or(rest);
        let (length, after) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
        let length = usize::try_from(i32::from_le_bytes(*length)).map_err(|_| cut())?;
        if length == 0 {
            return Ok(());
        }
        let (message, after) = after.split_at_checked(length).ok_or_else(cut)?;
        let parsed = root_as_message(message).map_err(|e| format!("a message is damaged: {e}"))?;
        let body = usize::try_from(parsed.bodyLength()).map_err(|_| cut())?;
        let (body, after) = after.split_at_checked(body).ok_or_else(cut)?;
        check_message(message, body, budget)?;
        rest = after;
    }
    Ok(())
}

fn check_message(message: &[u8], body: &[u8], budget: &Budget) -> Result<(), String> {
    let message = root_as_message(message).map_err(|e| format!("a message is damaged: {e}"))?;
    let dictionary = message.header_as_dictionary_batch();
    let batch = message.header_as_record_batch().or(dictionary.and_then(|d| d.data()));
    batch.map_or(Ok(()), |batch| check_batch(&batch, body, budget))
}

fn check_batch(batch: &RecordBatch<'_>, body: &[u8], budget: &Budget) -> Result<(), String> {
    for node in batch.nodes().into_iter().flatten() {
        if node.length() < 0 || !(0..=node.length()).contains(&node.null_count()) {
            return Err("a column has an impossible length".to_owned());
        }
    }
    let codec = batch.compression().map(|compression| compression.codec());
    let mut unpacked = 0u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let range = || {
            let start = usize::try_from(buffer.offset()).ok()?;
            let end = start.checked_add(usize::try_from(buffer.length()).ok()?)?;
            body.get(start..end)
        };
        let bytes = range().ok_or("a buffer lies outside its batch")?;
        let Some(codec) = codec.filter(|_| !bytes.is_empty()) else { continue };
        let (length, packed) =
            bytes.split_first_chunk::<8>().ok_or("a compressed buffer has no length")?;
        let Ok(length) = u64::try_from(i64::from_le_bytes(*length)) else { continue };
        if codec == CompressionType::LZ4_FRAME && length / LZ4_RATIO > packed.len() as u64 {
            return Err("a compressed buffer is too short for its length".to_owned());
        }
        unpacked = unpacked.saturating_add(length);
    }
    let taken = budget.taken();
    let enough = budget.take(unpacked).map_err(|e| e.to_string());
    budget.reset(taken);
    enough
}
