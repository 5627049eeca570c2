/** Draws the search: one line for each candidate, which ends where the candidate has lost. */
import type { Rung } from "./search.js";

const [width, height, left, bottom, top] = [640, 320, 56, 40, 16];

export function chart(rungs: readonly Rung[]): string {
  const last = rungs.length - 1;
  const highest = 1.2;
  const x = (rung: number) => (left + ((width - left - 24) * rung) / last).toFixed(1);
  const y = (loss: number) =>
    (height - bottom - ((height - bottom - top) * Math.min(loss, highest)) / highest).toFixed(1);
  const winner = rungs[last]![0]!.settings.candidate;
  const lines = [...rungs[0]!].reverse().map(({ settings: { candidate } }) => {
    const points = rungs.flatMap((rung, i) => {
      const one = rung.find(({ settings }) => settings.candidate === candidate);
      return one === undefined ? [] : [`${x(i)},${y(one.model.loss)}`];
    });
    const color = candidate === winner ? "#2563eb" : "#9ca3af";
    const dots = points.map((point) => {
      const [cx, cy] = point.split(",");
      return `<circle cx="${cx}" cy="${cy}" r="3" fill="${color}"/>`;
    });
    return `<polyline fill="none" stroke="${color}" stroke-width="2" points="${points.join(" ")}"/>${dots.join("")}`;
  });
  const ticks = rungs.map(
    (rung, i) =>
      `<text x="${x(i)}" y="${height - bottom + 22}" text-anchor="middle">${rung[0]!.model.epochs} epochs</text>`,
  );
  const levels = [0, 0.4, 0.8, 1.2].map(
    (loss) =>
      `<text x="${left - 30}" y="${Number(y(loss)) + 4}" text-anchor="end">${loss.toFixed(1)}</text>` +
      `<line x1="${left - 24}" x2="${width - 8}" y1="${y(loss)}" y2="${y(loss)}" stroke="#e5e7eb"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    "<title>The loss of each candidate after each rung of the search</title>",
    `<rect width="${width}" height="${height}" fill="white"/>`,
    ...levels,
    ...ticks,
    ...lines,
    "</svg>",
    "",
  ].join("\n");
}
