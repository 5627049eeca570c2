/** The loss over the steps as SVG, with the steps in which a replica was missing shaded. */
import type { Step } from "./quorum.js";

const [width, height, margin] = [640, 320, 40];

export function plotLoss(steps: readonly Step[], replicas: number): string {
  const top = Math.max(...steps.map(({ loss }) => loss));
  const x = (step: number) => (margin + (step / steps.length) * (width - 2 * margin)).toFixed(1);
  const y = (loss: number) => (height - margin - (loss / top) * (height - 2 * margin)).toFixed(1);
  const shade = steps.flatMap(({ members }, step) =>
    members.length === replicas
      ? []
      : [
          `<rect x="${x(step)}" y="${margin}" width="${(Number(x(step + 1)) - Number(x(step))).toFixed(1)}" height="${height - 2 * margin}" fill="#fdd"/>`,
        ],
  );
  const line = steps.map(({ loss }, step) => `${x(step)},${y(loss)}`).join(" ");
  const text = (left: number, bottom: number, words: string) => `<text x="${left}" y="${bottom}">${words}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<title>Loss of ${replicas} replicas</title>
<rect width="100%" height="100%" fill="#fff"/>
${shade.join("\n")}
<polyline points="${line}" fill="none" stroke="#06c" stroke-width="2"/>
<path d="M${margin} ${margin}V${height - margin}H${width - margin}" fill="none" stroke="#333"/>
${text(margin, margin - 10, `loss, from 0 to ${top.toFixed(2)}`)}
${text(width / 2 - 20, height - 10, `${steps.length} steps`)}
</svg>
`;
}
