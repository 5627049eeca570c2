/**
 * One program trains a language model on each of two processes, with different initial weights and different passages. It saves
 * the better model, loads the model into this process, and generates text with it.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { thisHost } from "viceroy";
import { inspect, loadTensors, manualSeed, optim, saveTensors, TensorScope, tensor, torch } from "viceroy/tensor";
import { drawChart } from "./chart.js";
import { LanguageModel } from "./model.js";
import { Text } from "./text.js";

const steps = Number(process.argv[2] ?? 300);
const folder = process.argv[3] ?? mkdtempSync(path.join(tmpdir(), "language-model-"));
/** Number of steps over which losses are averaged. */
const reportInterval = 25;
const batch = 16;

const text = new Text(fileURLToPath(new URL("../../../docs/explanation", import.meta.url)));
const size = { characters: text.characters.length, context: 48, width: 64, heads: 4, blocks: 2 };
const file = path.join(folder, "model.safetensors");

await using procs = thisHost().spawnProcs({ models: 2 });
const curves = await procs.activate(async () => {
  manualSeed(1, { perRank: true });
  const model = new LanguageModel(size);
  const optimizer = new optim.AdamW(model.parameters(), { lr: 3e-3 });
  const all = tensor(text.numbers);
  const window = torch.arange(size.context + 1);
  /** Passages at random positions, which differ between the processes. */
  const passages = () => all.take(torch.randint(text.numbers.length - size.context, [batch, 1]).add(window));
  const lossSum = torch.zeros([]);
  const curves: number[][] = [[], []];
  for (let step = 1; step <= steps; step++) {
    {
      using _ = new TensorScope();
      const loss = model.loss(passages());
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      lossSum.add_(loss.detach());
    }
    // The program waits for the processes only when it fetches a result.
    if (step % reportInterval !== 0) continue;
    const sums = await Promise.all([0, 1].map(async (models) => Number((await inspect(lossSum, { models })).item())));
    lossSum.zero_().dispose();
    for (const [i, sum] of sums.entries()) curves[i]!.push(sum / reportInterval);
    const losses = sums.map((sum) => (sum / reportInterval).toFixed(2)).join(" and ");
    console.log(`up to step ${step}: ${losses} nats per character`);
  }
  const last = curves.map((curve) => curve.at(-1)!);
  const models = last.indexOf(Math.min(...last));
  await saveTensors(file, model.stateDict(), { at: { models } });
  console.log(`saved ${model.parameters().length} parameters of process ${models}`);
  return curves;
});

const [first, second] = curves as [number[], number[]];
const title = `Loss, in nats per character (${text.numbers.length} characters of documentation)`;
writeFileSync(
  path.join(folder, "loss.svg"),
  drawChart(title, reportInterval, { "process 0": first, "process 1": second }),
);

const model = new LanguageModel(size).eval();
model.loadStateDict(await loadTensors(file));
manualSeed(1);
const generated = text.encode("The ");
for (let i = 0; i < 200; i++) {
  using _ = new TensorScope();
  const context = BigInt64Array.from(generated.slice(-size.context), BigInt);
  const scores = model.forward(tensor(context, { shape: [1, context.length] })).select(1, -1);
  generated.push(Number(torch.multinomial(scores.softmax(-1), 1).item()));
}
console.log(`generated text:\n${text.decode(generated)}\nmodel and chart are in ${folder}`);
