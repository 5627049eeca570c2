/** Finding words in text: pure functions, nothing of actors. */

/** Lower-case letters and digits in runs; an apostrophe inside a run belongs to it (don't). By UTF-16 unit. */
const partOfWord = new Uint8Array(65_536);
for (let unit = 0; unit < partOfWord.length; unit++) {
  if (/[\p{L}\p{N}]/u.test(String.fromCharCode(unit))) partOfWord[unit] = 1;
}
const apostrophes = new Set(["'".charCodeAt(0), "’".charCodeAt(0)]);

/** Longer runs are counted as words, but not kept: keys, hashes and encoded data. */
const longestKept = 40;
/** V8 lets substrings of at least so many units point into the whole text, which then stays in memory. */
const shortestShared = 13;

/** Adds the words of `text` to `table`. @returns how many there were */
export function countWords(text: string, table: Map<string, number>): number {
  const lower = text.toLowerCase();
  let count = 0;
  let start = -1;
  for (let i = 0; i <= lower.length; i++) {
    const unit = lower.charCodeAt(i);
    if (partOfWord[unit] === 1) {
      if (start < 0) start = i;
    } else if (start >= 0 && !(apostrophes.has(unit) && partOfWord[lower.charCodeAt(i + 1)] === 1)) {
      if (i - start <= longestKept) add(table, lower.slice(start, i), 1);
      count++;
      start = -1;
    }
  }
  return count;
}

/** Adds all words of one table to another. */
export function mergeWords(from: ReadonlyMap<string, number>, into: Map<string, number>): void {
  for (const [word, count] of from) add(into, word, count);
}

/** The words that were there most often; of equally frequent ones, those that come first in the alphabet. */
export function mostFrequentWords(table: ReadonlyMap<string, number>, count: number, letters: number) {
  return [...table]
    .filter(([word]) => word.length >= letters)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .slice(0, count)
    .map(([word, count]) => ({ word, count }));
}

function add(table: Map<string, number>, word: string, count: number): void {
  const before = table.get(word);
  if (before !== undefined) table.set(word, before + count);
  else table.set(word.length < shortestShared ? word : Buffer.from(word).toString(), count);
}
