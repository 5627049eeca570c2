/** What must be true of the processes of a simulated cluster when everything has come to rest. */
import type { ProcessView, Simulation } from "../../runtime/testing/index.js";
import type { Book } from "./book.js";

/** How long hosts wait for a driver that they hear nothing of, and then take to end what it has left, in ms. */
const expiry = 10_000 + 5000;
/** In ms: shorter ones are no silence that anybody calls an end. */
const noticeable = 600;

/** Whoever has lost a rank knows it, and nobody was told of what has not happened. @param remade ranks may have come back */
export function checkTold(simulation: Simulation, book: Book, size: number, remade: boolean): void {
  const { processes, faults } = simulation;
  const ranks = processes.filter(({ name }) => name.startsWith("procs "));
  for (const { name, ended, end } of remade ? [] : ranks) {
    const rank = rankOf(name, size / hostsIn(ranks));
    if (ended && !book.told.has(`program: procs[${rank}]`)) book.violations.push(`nobody was told of ${name}: ${end}`);
  }
  const [told] = [...book.told.keys()].filter((key) => /: (?:procs|crew\d+|more\d*|extra\d+)\[/.test(key));
  if (told === undefined) return;
  const onHosts = processes.some(({ program }) => program === undefined);
  const slow = faults.filter(({ kind }) => kind === "slow").length > 1;
  const hurt = faults.some(({ kind, ms }) => {
    if (kind.startsWith("crash")) return true;
    if (!onHosts) return kind === "cut";
    return (kind === "partition" || kind.startsWith("pause")) && ms > noticeable;
  });
  if (!hurt && !slow && !told.startsWith("driver2")) {
    book.violations.push(`told of a failure, and there was none: ${told}`);
  }
}

/** `procs hosts=1 gpus=2@n1#7`, or `procs gpus=2@host2#4`. */
function rankOf(name: string, perHost: number): number {
  const host = Number(/ hosts=(\d+)/.exec(name)?.[1] ?? 0);
  return host * perHost + Number(/ gpus=(\d+)/.exec(name)?.[1] ?? 0);
}

function hostsIn(ranks: readonly ProcessView[]): number {
  return new Set(ranks.map(({ name }) => / hosts=(\d+)/.exec(name)?.[1])).size;
}

/** A driver has ended, or does soon: nothing of it is left on any host when that has had time to show. */
export async function checkEnds(simulation: Simulation, book: Book, driver: ProcessView): Promise<void> {
  for (let waited = 0; !driver.ended && waited < 200_000; waited += 1000) await simulation.sleep(1000);
  if (!driver.ended) book.violations.push(`${driver.name} has not come to its end`);
  await simulation.sleep(expiry);
  // Whatever is paused does not leave.
  await simulation.sleep(20_000);
  for (const process of simulation.processes) {
    if (process.program !== driver || process.ended) continue;
    book.violations.push(`${process.name} has outlived ${driver.name}: ${driver.end}`);
  }
}
