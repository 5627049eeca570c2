/**
 * The order of imports and of their names, as the linter's import organizer defines it: packages before relative paths,
 * parents before siblings, and otherwise the "natural" order: numbers by value, and upper case before lower case of the
 * same letter.
 */

const punctuation = "/\\?#=&;,@:. _-+*!%$()[]{}<>|^~'\"`";

/** Compares two names. Returns a negative number, zero, or a positive number, for `Array.prototype.sort`. */
export function compareNames(a: string, b: string): number {
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const digitsA = digitsAt(a, i);
    const digitsB = digitsAt(b, j);
    if (digitsA !== "" && digitsB !== "") {
      if (digitsA !== digitsB) return digitsA.length - digitsB.length || (digitsA < digitsB ? -1 : 1);
      i += digitsA.length;
      j += digitsB.length;
    } else {
      const characterA = String.fromCodePoint(a.codePointAt(i) ?? 0);
      const characterB = String.fromCodePoint(b.codePointAt(j) ?? 0);
      if (characterA !== characterB) return weight(characterA) - weight(characterB);
      i += characterA.length;
      j += characterB.length;
    }
  }
  return a.length - i - (b.length - j);
}

/** Compares two module specifiers. */
export function compareSpecifiers(a: string, b: string): number {
  return distance(a) - distance(b) || compareNames(a, b);
}

function distance(specifier: string): number {
  if (specifier.startsWith("node:")) return 0;
  if (!specifier.startsWith(".")) return 1;
  return specifier.startsWith("..") ? 2 : 3;
}

function digitsAt(text: string, start: number): string {
  let end = start;
  while (end < text.length && text[end]! >= "0" && text[end]! <= "9") end++;
  return text.slice(start, end);
}

function weight(character: string): number {
  const rank = punctuation.indexOf(character);
  if (rank >= 0) return rank;
  if (character >= "0" && character <= "9") return 50 + Number(character);
  if (/^[A-Za-z]$/.test(character)) {
    const letter = character.toLowerCase().charCodeAt(0) - 97;
    return 100 + 2 * letter + (character >= "a" ? 1 : 0);
  }
  return 1_000 + (character.codePointAt(0) ?? 0);
}
