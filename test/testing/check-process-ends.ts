/** Checks the processes of a simulated cluster when no more tasks run. */
import type { ProcessView, Simulation } from "../../runtime/testing/index.js";
import { hasSuffered } from "./fault-exposure.js";
import type { MessageBook } from "./message-book.js";

/** Time in ms for which hosts wait for a silent driver, plus the time for ending its processes. */
const expiry = 10_000 + 5000;

/**
 * Checks that owners were told of each lost rank, and of nothing else.
 * @param options.perHost number of processes on each host
 * @param options.remade whether ranks may have been restarted
 * @param options.lasting whether the processes are on attached hosts
 */
export function checkTold(
  simulation: Simulation,
  book: MessageBook,
  { perHost, remade, lasting }: { perHost: number; remade: boolean; lasting: boolean },
): void {
  const { processes, faults } = simulation;
  const ranks = processes.filter(({ name }) => name.startsWith("procs "));
  for (const process of remade ? [] : ranks) {
    const { name, ended, end } = process;
    const told = book.told.has(`program: procs[${rankOf(name, perHost)}]`);
    if (ended && !told) book.violation(`nobody was told of ${name}: ${end}`);
    if (told && !hasSuffered(simulation, process, lasting)) {
      book.violation(`told of ${name}, to which nothing had happened: ${end ?? "it lives"}`);
    }
  }
  const [told] = [...book.told.keys()].filter((key) => /: (?:procs|crew\d+|more\d*|extra\d+)\[/.test(key));
  if (told === undefined || told.startsWith("driver2")) return;
  if (processes.some((process) => hasSuffered(simulation, process, lasting))) return;
  book.violation(`told of a failure, and there was none: ${told}; ${faults.length} faults`);
}

/** Matches `procs hosts=1 gpus=2@n1#7` and `procs gpus=2@host2#4`. */
function rankOf(name: string, perHost: number): number {
  const host = Number(/ hosts=(\d+)/.exec(name)?.[1] ?? 0);
  return host * perHost + Number(/ gpus=(\d+)/.exec(name)?.[1] ?? 0);
}

/** Checks that no process of a driver is left on any host, some time after the driver has ended. */
export async function checkEnds(simulation: Simulation, book: MessageBook, driver: ProcessView): Promise<void> {
  for (let waited = 0; !driver.ended && waited < 200_000; waited += 1000) await simulation.sleep(1000);
  if (!driver.ended) book.violation(`${driver.name} has not come to its end`);
  await simulation.sleep(expiry);
  // A paused process cannot leave.
  await simulation.sleep(20_000);
  for (const process of simulation.processes) {
    if (process.program !== driver || process.ended) continue;
    book.violation(`${process.name} has outlived ${driver.name}: ${driver.end}`);
  }
}
