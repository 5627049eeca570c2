/** Quotes words for the POSIX shell. */

/** Returns a word as the shell reads it. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
