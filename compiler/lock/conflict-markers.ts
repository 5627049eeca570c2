/** Reads and writes git's conflict markers. */

const marks = /^(<{7,}|\|{7,}|={7,}|>{7,})( |$)/;

/** Returns the numbers of the lines, from 1, on which conflicts begin. */
export function conflictLines(text: string): readonly number[] {
  return text.split("\n").flatMap((line, i) => (/^<{7,}( |\r?$)/.test(line) ? [i + 1] : []));
}

/** Returns the text with the first side of every conflict. */
export function takeFirstSides(text: string): string {
  let isFirst = true;
  const lines = text.split("\n").filter((line) => {
    const mark = marks.exec(line.trimEnd())?.[1]?.[0];
    if (mark === undefined) return isFirst;
    isFirst = mark === "<" || mark === ">";
    return false;
  });
  return lines.join("\n");
}

/** @param size the length of the markers in characters, as git requests it */
export function markConflict(ours: readonly string[], theirs: readonly string[], size: number): readonly string[] {
  const mark = (character: string) => character.repeat(size);
  return [`${mark("<")} ours`, ...ours, mark("="), ...theirs, `${mark(">")} theirs`];
}
