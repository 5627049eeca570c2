/** Draws curves as an SVG chart. */

const [width, height, margin] = [640, 360, 48];
const colours = ["#3366cc", "#dc3912", "#109618", "#ff9900"];

/**
 * @param interval number of steps between two values
 * @param curves the values of each curve by its name; the vertical axis begins at 0
 */
export function drawChart(
  title: string,
  interval: number,
  curves: Readonly<Record<string, readonly number[]>>,
): string {
  const all = Object.values(curves);
  const count = Math.max(...all.map((values) => values.length));
  const top = Math.ceil(Math.max(...all.flat()));
  const x = (i: number) => margin + (i / Math.max(count - 1, 1)) * (width - 2 * margin);
  const y = (value: number) => height - margin - (value / top) * (height - 2 * margin);
  const line = (x1: number, y1: number, x2: number, y2: number, colour: string) =>
    `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${colour}"/>`;
  const text = (x: number, y: number, anchor: string, content: string, colour = "black") =>
    `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${colour}">${content}</text>`;
  const levels = Array.from({ length: top + 1 }, (_, value) => value);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    `<title>${title}</title>`,
    `<rect width="${width}" height="${height}" fill="white"/>`,
    text(width / 2, margin / 2, "middle", title),
    ...levels.map((value) => line(margin, y(value), width - margin, y(value), "#dddddd")),
    ...levels.map((value) => text(margin - 8, y(value) + 4, "end", String(value))),
    text(margin, height - margin / 2, "middle", `step ${interval}`),
    text(width - margin, height - margin / 2, "middle", `step ${count * interval}`),
    ...Object.entries(curves).flatMap(([name, values], i) => {
      const colour = colours[i % colours.length]!;
      const points = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
      return [
        `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points}"/>`,
        text(width - margin, margin + 18 * i, "end", name, colour),
      ];
    }),
    "</svg>",
    "",
  ].join("\n");
}
