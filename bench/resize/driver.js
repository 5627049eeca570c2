/**
 * One run: `node driver.js <from> <to>` starts with `from` processes, adds processes up to `to`, and waits until each new one has answered
 * one message. With `from` 0 it spawns them. Prints a line of JSON: the ms, and the ms of processor time meanwhile.
 */
import { isDeepStrictEqual } from "node:util";
import { cpuSeconds, descendants } from "../harness/machine.js";
import { loadDriver } from "../viceroy/prepare.js";

const [from, to] = process.argv.slice(2).map(Number);
const { spawnResizable } = await loadDriver();

const first = from === 0 ? undefined : spawnResizable(from);
await first?.echo.one.call();
const before = seconds();
const start = performance.now();
const mesh = first ?? spawnResizable(to);
const echo = first === undefined ? mesh.echo : first.grow(to);
const joined = [...echo].slice(from).map(([, one]) => one);
const answers = await Promise.all(joined.map((one) => one.one.callOne()));
const ready = performance.now() - start;
const cpu = (seconds() - before) * 1000;
if (!isDeepStrictEqual(answers, new Array(to - from).fill(1))) throw new Error(`unexpected answers ${answers}`);
await mesh.stop();
process.stdout.write(`${JSON.stringify({ ready, cpu })}\n`);
process.exit(0);

function seconds() {
  return [process.pid, ...descendants(process.pid)].reduce((sum, pid) => sum + cpuSeconds(pid), 0);
}
