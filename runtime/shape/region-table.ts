/** Meshes as text: one line for each rank, its coordinates first. For people; programs read entries. */
import { inspect } from "node:util";
import { points } from "./point.js";
import type { Region } from "./region.js";

/**
 * A table with a heading: `rank`, the dimensions, and `columns`.
 * @param cells the texts of one rank, as many as there are columns
 */
export function formatRegionTable(
  region: Region,
  columns: readonly string[],
  cells: (rank: number) => readonly string[],
): string {
  const rows = [["rank", ...region.labels, ...columns]];
  for (const point of points(region)) {
    const coordinates = Object.values(point.coordinates).map(String);
    rows.push([String(point.rank), ...coordinates, ...cells(point.rank)]);
  }
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Any value on one line. */
export function formatTableCell(value: unknown): string {
  return inspect(value, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 2, maxArrayLength: 8 });
}
