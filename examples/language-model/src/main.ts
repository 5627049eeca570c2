/**
 * Two processes train a language model each, from beginnings and on passages of their own, by one program. The better one is
 * saved, loaded here, and writes.
 */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { thisHost } from "viceroy";
import { inspect, loadTensors, manualSeed, optim, saveTensors, TensorScope, tensor, torch } from "viceroy/tensor";
import { LanguageModel } from "./model.js";
import { draw } from "./picture.js";
import { Text } from "./text.js";

const steps = Number(process.argv[2] ?? 300);
const folder = process.argv[3] ?? mkdtempSync(path.join(tmpdir(), "language-model-"));
/** Steps for which losses are averaged. */
const every = 25;
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
  /** Passages from anywhere; others on each process. */
  const passages = () => all.take(torch.randint(text.numbers.length - size.context, [batch, 1]).add(window));
  const surprise = torch.zeros([]);
  const curves: number[][] = [[], []];
  for (let step = 1; step <= steps; step++) {
    {
      using _ = new TensorScope();
      const loss = model.loss(passages());
      optimizer.zeroGrad();
      loss.backward();
      optimizer.step();
      surprise.add_(loss.detach());
    }
    // Until somebody wants to see something, nothing is waited for.
    if (step % every !== 0) continue;
    const sums = await Promise.all([0, 1].map(async (models) => Number((await inspect(surprise, { models })).item())));
    surprise.zero_().dispose();
    for (const [i, sum] of sums.entries()) curves[i]!.push(sum / every);
    const shown = sums.map((sum) => (sum / every).toFixed(2)).join(" and ");
    console.log(`to step ${step}: ${shown} nats for each character`);
  }
  const last = curves.map((curve) => curve.at(-1)!);
  const models = last.indexOf(Math.min(...last));
  await saveTensors(file, model.stateDict(), { at: { models } });
  console.log(`saved ${model.parameters().length} parameters of process ${models}`);
  return curves;
});

const [first, second] = curves as [number[], number[]];
const title = `Loss, in nats for each character (${text.numbers.length} characters of documentation)`;
writeFileSync(path.join(folder, "loss.svg"), draw(title, every, { "process 0": first, "process 1": second }));

const model = new LanguageModel(size).eval();
model.loadStateDict(await loadTensors(file));
manualSeed(1);
const written = text.write("The ");
for (let i = 0; i < 200; i++) {
  using _ = new TensorScope();
  const seen = BigInt64Array.from(written.slice(-size.context), BigInt);
  const scores = model.forward(tensor(seen, { shape: [1, seen.length] })).select(1, -1);
  written.push(Number(torch.multinomial(scores.softmax(-1), 1).item()));
}
console.log(`it writes:\n${text.read(written)}\nsee ${folder}`);
