/** Patterns of names in rules: `*` stands for any characters, and everything else for itself. */

/** Returns whether a pattern matches the whole text. It takes time in proportion to the lengths of both, whatever they contain. */
export function matchesGlob(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  const first = parts[0]!;
  if (parts.length === 1) return text === pattern;
  const last = parts.at(-1)!;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    // The leftmost place leaves most of the text to the parts that follow.
    const found = text.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Returns whether one of the patterns matches the whole text. */
export function matchesAny(patterns: readonly string[], text: string): boolean {
  return patterns.some((pattern) => matchesGlob(pattern, text));
}
