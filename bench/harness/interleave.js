/**
 * Interleaves subjects: each round runs every subject once, and every second round in reverse order, so that drift of the machine
 * (heat, neighbours, caches) affects all subjects alike.
 */
import { setTimeout as delay } from "node:timers/promises";
import { cpuTimes, foreignLoad } from "./machine.js";

/**
 * @typedef {Record<string, number>} Sample  metrics of one run of one subject, by name
 * @typedef {{ name: string, run: (round: number) => Promise<Sample> }} Subject
 */

/**
 * Runs `rounds` rounds. Returns the samples of each subject in the order of the rounds. Besides the subject's metrics, a sample
 * contains `foreign`: the number of cores that other programs kept busy meanwhile.
 *
 * @param {readonly Subject[]} subjects
 * @param {{ rounds: number, quick?: boolean, log?: (line: string) => void }} options
 * @returns {Promise<Map<string, Sample[]>>}
 */
export async function runInterleaved(subjects, { rounds, quick = false, log = progress }) {
  // Node.js 20 parses these certificates at each start of a process, which takes longer than the rest of the start.
  delete process.env["NODE_EXTRA_CA_CERTS"];
  const samples = new Map(subjects.map((subject) => [subject.name, []]));
  let waitBudget = 60_000;
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? subjects : subjects.toReversed();
    for (const subject of order) {
      if (!quick) waitBudget = await waitUntilIdle(waitBudget);
      const before = cpuTimes();
      const sample = await subject.run(round);
      const foreign = foreignLoad(before, cpuTimes());
      samples.get(subject.name)[round] = { ...sample, foreign };
      log(
        `round ${round + 1}/${rounds}  ${subject.name}${foreign > 0.2 ? `  (foreign load ${foreign.toFixed(2)})` : ""}`,
      );
    }
  }
  return samples;
}

/**
 * Like `runInterleaved`, but all subjects of a round stay alive and measure one short window each in turn, so that a slow-down of
 * some seconds affects all subjects alike. The smallest value of each metric counts, because disturbances make values larger.
 *
 * @typedef {{
 *   metrics: readonly string[],
 *   constants: Sample,
 *   measure: (metric: string) => Promise<number>,
 *   stop: () => Promise<void>,
 * }} Running  `metrics`: the names of the metrics that the subject can measure
 * @param {readonly { name: string, start: () => Promise<Running> }[]} subjects
 * @param {{ rounds: number, windows: number, quick?: boolean, log?: (line: string) => void }} options
 * @returns {Promise<Map<string, Sample[]>>}
 */
export async function measureInterleaved(subjects, { rounds, windows, quick = false, log = progress }) {
  const samples = new Map(subjects.map((subject) => [subject.name, []]));
  let waitBudget = 60_000;
  for (let round = 0; round < rounds; round++) {
    if (!quick) waitBudget = await waitUntilIdle(waitBudget);
    const before = cpuTimes();
    const running = [];
    try {
      for (const { name, start } of subjects) {
        log(`round ${round + 1}/${rounds}  ${name} warms up`);
        const subject = await start();
        running.push({ ...subject, sample: { ...subject.constants } });
        samples.get(name)[round] = running.at(-1).sample;
      }
      for (let window = 0; window < windows; window++) {
        log(`round ${round + 1}/${rounds}  window ${window + 1}/${windows}`);
        await measureOnce(window % 2 === 0 ? running : running.toReversed());
      }
    } finally {
      for (const { stop } of running) await stop();
    }
    // The processes have ended, so their processor time counts as that of this program.
    const foreign = foreignLoad(before, cpuTimes());
    for (const { sample } of running) sample.foreign = foreign;
  }
  return samples;
}

async function measureOnce(subjects) {
  for (const metric of new Set(subjects.flatMap(({ metrics }) => metrics))) {
    for (const { metrics, measure, sample } of subjects) {
      if (metrics.includes(metric)) sample[metric] = Math.min(sample[metric] ?? Infinity, await measure(metric));
    }
  }
}

/** Waits while other programs keep the machine busy, for at most `budget` ms. Returns the rest of the budget. */
async function waitUntilIdle(budget) {
  let left = budget;
  for (let before = cpuTimes(); left > 0; before = cpuTimes()) {
    await delay(100);
    if (!(foreignLoad(before, cpuTimes()) > 0.2)) break;
    left -= 100;
  }
  return left;
}

function progress(line) {
  process.stderr.write(`${line}\n`);
}
