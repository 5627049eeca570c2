/** Finds words in text. Pure functions without actors. */

/**
 * Tells for each UTF-16 code unit whether it is a letter or a digit. A word is a run of these. An apostrophe inside a
 * run belongs to the word (don't).
 */
const partOfWord = new Uint8Array(65_536);
for (let unit = 0; unit < partOfWord.length; unit++) {
  if (/[\p{L}\p{N}]/u.test(String.fromCharCode(unit))) partOfWord[unit] = 1;
}
const apostrophes = new Set(["'".charCodeAt(0), "’".charCodeAt(0)]);

/** Longer words count, but are not kept: they are keys, hashes and encoded data. */
const longestKept = 40;
/** Substrings of at least this length refer to the whole text in V8, and keep it in memory. */
const shortestShared = 13;

/** Adds the words of `text` to `table`. @returns the number of words */
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

/** Returns the most frequent words. Equally frequent words are in alphabetical order. */
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
