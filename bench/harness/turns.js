/**
 * Subjects take turns: every round runs each of them once, and every other round runs them in reverse, so that drift
 * of the machine (heat, neighbours, caches) falls on all alike.
 */
import { setTimeout as delay } from "node:timers/promises";
import { cpuTimes, foreignLoad } from "./machine.js";

/**
 * @typedef {Record<string, number>} Sample  metrics of one run of one subject, by name
 * @typedef {{ name: string, run: (round: number) => Promise<Sample> }} Subject
 */

/**
 * Runs `rounds` rounds. Answers the samples of each subject in the order of the rounds; each has, besides the metrics
 * of the subject, `foreign`: the cores that other programs kept busy meanwhile.
 *
 * @param {readonly Subject[]} subjects
 * @param {{ rounds: number, quick?: boolean, log?: (line: string) => void }} options
 * @returns {Promise<Map<string, Sample[]>>}
 */
export async function takeTurns(subjects, { rounds, quick = false, log = progress }) {
  const samples = new Map(subjects.map((subject) => [subject.name, []]));
  let patience = 60_000;
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? subjects : subjects.toReversed();
    for (const subject of order) {
      if (!quick) patience = await waitForQuiet(patience);
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
 * As `takeTurns`, but the subjects of a round live side by side and measure a window each in turn, so that what slows the
 * machine down for seconds falls on all alike. The least value of each metric counts: whatever disturbs makes it larger.
 *
 * @typedef {{
 *   metrics: readonly string[],
 *   constants: Sample,
 *   measure: (metric: string) => Promise<number>,
 *   stop: () => Promise<void>,
 * }} Live  `metrics`: what it can measure
 * @param {readonly { name: string, start: () => Promise<Live> }[]} subjects
 * @param {{ rounds: number, windows: number, quick?: boolean, log?: (line: string) => void }} options
 * @returns {Promise<Map<string, Sample[]>>}
 */
export async function takeWindows(subjects, { rounds, windows, quick = false, log = progress }) {
  const samples = new Map(subjects.map((subject) => [subject.name, []]));
  let patience = 60_000;
  for (let round = 0; round < rounds; round++) {
    if (!quick) patience = await waitForQuiet(patience);
    const before = cpuTimes();
    const live = [];
    try {
      for (const { name, start } of subjects) {
        log(`round ${round + 1}/${rounds}  ${name} warms up`);
        const subject = await start();
        live.push({ ...subject, sample: { ...subject.constants } });
        samples.get(name)[round] = live.at(-1).sample;
      }
      for (let window = 0; window < windows; window++) {
        log(`round ${round + 1}/${rounds}  window ${window + 1}/${windows}`);
        await measureOnce(window % 2 === 0 ? live : live.toReversed());
      }
    } finally {
      for (const { stop } of live) await stop();
    }
    // Now that they have ended, what they used is known to be ours.
    const foreign = foreignLoad(before, cpuTimes());
    for (const { sample } of live) sample.foreign = foreign;
  }
  return samples;
}

async function measureOnce(live) {
  for (const metric of new Set(live.flatMap(({ metrics }) => metrics))) {
    for (const { metrics, measure, sample } of live) {
      if (metrics.includes(metric)) sample[metric] = Math.min(sample[metric] ?? Infinity, await measure(metric));
    }
  }
}

/** Waits while other programs keep the machine busy, but no longer than `patience` ms; answers what is left of it. */
async function waitForQuiet(patience) {
  let left = patience;
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
