/** Finds the known name that is most similar to a misspelt one. */

/**
 * Returns the name that is most similar to `written`, or undefined if no name is similar. Upper and lower case are
 * treated as equal. A name of up to 4 letters may differ by 1 edit, a longer name by 2 edits.
 */
export function nearestName(written: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const edits = distance(written.toLowerCase(), name.toLowerCase());
    if (edits > (name.length <= 4 ? 1 : 2) || edits >= least) continue;
    best = name;
    least = edits;
  }
  return best;
}

/**
 * Returns the number of edits between two words. An edit inserts, deletes or changes one letter, or swaps two
 * neighbours. This is the optimal string alignment distance.
 */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const above = rows[i - 1] as number[];
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (rows[i - 2]?.[j - 2] ?? 0) + 1);
      row.push(best);
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? 0;
}
