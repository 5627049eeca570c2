/**
 * One run: `node --expose-gc placement-driver.js <bundle> <hosts> <placements>` places tasks on simulated hosts, 20 at a time, and prints a line
 * of JSON: the processor time in us for each placement, and the heap in MiB at the end.
 */
const [, , bundle, hosts, placements] = process.argv;
const { CountedHosts } = await import(bundle);
const counted = new CountedHosts(Number(hosts));
const taskClass = { resources: { cpus: 1 }, environment: undefined, bundle: undefined, maxCalls: 1 };
await counted.runMany(10_000, 20, taskClass);
const before = process.cpuUsage();
await counted.runMany(Number(placements), 20, taskClass);
const { user, system } = process.cpuUsage(before);
const expected = Number(placements) + 10_000;
if (counted.messages.get("run") !== expected)
  throw new Error(`expected ${expected} tasks to have run, got ${counted.messages.get("run")}`);
globalThis.gc();
const heap = process.memoryUsage().heapUsed / 2 ** 20;
process.stdout.write(`${JSON.stringify({ cpu: (user + system) / Number(placements), heap })}\n`);
process.exit(0);
