/** The marks that git leaves in a file that it cannot merge. */

const marks = /^(<{7,}|\|{7,}|={7,}|>{7,})( |$)/;

/** 1-based lines on which conflicts begin. */
export function conflictLines(text: string): readonly number[] {
  return text.split("\n").flatMap((line, i) => (/^<{7,}( |\r?$)/.test(line) ? [i + 1] : []));
}

/** The text as the first of the two sides has it. */
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

/** @param size of the marks, as git asks for it */
export function markConflict(ours: readonly string[], theirs: readonly string[], size: number): readonly string[] {
  const mark = (character: string) => character.repeat(size);
  return [`${mark("<")} ours`, ...ours, mark("="), ...theirs, `${mark(">")} theirs`];
}
