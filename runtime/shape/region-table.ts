/** Formats a mesh as a table for people: one line for each rank, with its coordinates. */
import { inspect } from "node:util";
import { points } from "./point.js";
import type { Region } from "./region.js";

/**
 * Returns a table with the columns `rank`, the dimensions, and `columns`.
 *
 * @param cells returns the texts of one rank, one for each of `columns`
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

/** Formats any value on one line. */
export function formatTableCell(value: unknown): string {
  return inspect(value, { breakLength: Number.POSITIVE_INFINITY, compact: true, depth: 2, maxArrayLength: 8 });
}
