/**
 * Computes the number of columns of a text. East Asian wide characters take two columns, and combining marks take none.
 * The short table covers the blocks that occur in identifiers and strings, after Unicode's EastAsianWidth.txt. It is
 * not a full implementation.
 */
const widePattern =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\u33FF\u3400-\u4DBF\u4E00-\u9FFF\uA000-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18AFF}\u{1B000}-\u{1B2FF}\u{1F300}-\u{1F64F}\u{1F680}-\u{1F6FF}\u{1F900}-\u{1F9FF}\u{20000}-\u{3FFFD}]/u;
const combiningPattern = /\p{Mn}|\p{Me}|\p{Cf}/u;
/** Returns whether `text` takes at most `columns` columns on a line. */
export function fitsInto(text: string, columns: number): boolean {
  return text.length * 2 <= columns || (text.length <= columns && isAscii(text)) || textWidth(text) <= columns;
}

/** Returns the number of columns of `text` on a line. */
export function textWidth(text: string): number {
  if (isAscii(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += widePattern.test(character) ? 2 : combiningPattern.test(character) ? 0 : 1;
  return columns;
}

/** Returns whether a text is ASCII. For the short texts of this use, a loop is faster than a regular expression. */
function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || unit > 0x7e) return false;
  }
  return true;
}
