/**
 * What tests of one-sided memory have in common: vaults in other processes, and which transports are tried.
 *
 * VICEROY_TEST_RDMA names the transports, with commas; by default those that any machine of Linux has. Inside of a virtual machine
 * with RDMA it is `verbs`. Tests of transports that need the addon are left out where it has not been built, unless everything
 * is to be tested (VICEROY_PEERS is "required"): then its absence is an error.
 */
import { fileURLToPath } from "node:url";
import { onUnhandledFault, thisHost } from "viceroy";
import { RdmaBuffer, rdmaSupport, type Transport } from "viceroy/rdma";
import { compileProject } from "../proc/crew.js";

const project = fileURLToPath(new URL("project/", import.meta.url));

const named = process.env["VICEROY_TEST_RDMA"] ?? "shared,vm,stream";
const wanted = named.split(",") as Transport[];
const support = rdmaSupport();

/** Whether the addon is there. @throws Error when it must be and is not */
export const hasAddon = support.addon !== undefined;
if (!hasAddon && process.env["VICEROY_PEERS"] === "required") {
  throw new Error(`cannot test one-sided memory: ${support.why}. Run \`node dist/cli/viceroy.js setup --rdma\``);
}

/** A transport that the whole suite runs on, and what is peculiar to it. */
export interface Tested {
  readonly transport: Transport;
  readonly oneSided: boolean;
  /** Whether its memory must be made by `allocate`. */
  readonly allocated: boolean;
  /** Whether what has been opened can be read when the owner has died. */
  readonly survives: boolean;
  readonly skipped: boolean;
}

export const tested: readonly Tested[] = wanted.map((transport) => ({
  transport,
  oneSided: transport !== "stream",
  allocated: transport === "shared",
  survives: transport === "shared",
  skipped: transport !== "stream" && !hasAddon,
}));

export async function loadVaults() {
  await compileProject(project);
  await import("./project/generated/registry.js");
  return import("./project/src/iron-vault.js");
}

export type Vaults = Awaited<ReturnType<typeof loadVaults>>;

/** What `length` bytes from `offset` on of a vault's memory hold at first. */
export function patternOf({ pattern }: Vaults, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = pattern(offset + i);
  return bytes;
}

/** Whether every instruction is emulated: starting a process takes ten times as long as most tests. */
export const emulated = process.env["VICEROY_TEST_EMULATED"] !== undefined;

async function newVaults({ IronVault }: Vaults, count: number) {
  const procs = thisHost().spawnProcs({ vaults: count });
  const mesh = procs.spawn("vaults", IronVault);
  await mesh.ready;
  return { procs, mesh };
}

const free = new Map<number, ReturnType<typeof newVaults>[]>();

/**
 * Vaults in processes of their own, which end with the scope; where all is emulated they serve other scopes then.
 * @param mortal they are going to be killed: nobody else gets them
 */
export async function vaultsIn(vaults: Vaults, count: number, mortal = false) {
  const waiting = free.get(count) ?? [];
  free.set(count, waiting);
  const found = (mortal ? undefined : waiting.pop()) ?? newVaults(vaults, count);
  const { procs, mesh } = await found;
  const end = async () => {
    if (emulated && !mortal) waiting.push(found);
    else await procs.stop();
  };
  return { mesh, at: (rank: number) => mesh.slice({ vaults: rank }), [Symbol.asyncDispose]: end };
}

/** The same memory, reached by this transport. */
export async function by(transport: Transport, buffer: RdmaBuffer): Promise<RdmaBuffer> {
  return buffer.open({ transports: [transport] });
}

/** Fails with the first byte that differs: comparing millions one by one is not what `toEqual` is made for. */
export function expectBytes(actual: Uint8Array, expected: Uint8Array): void {
  if (Buffer.compare(new Uint8Array(actual), expected) === 0) return;
  const at = actual.findIndex((byte, i) => byte !== expected[i]);
  const where =
    at < 0 || actual.length !== expected.length ? "" : `, first at ${at}: ${actual[at]} for ${expected[at]}`;
  throw new Error(`expected ${expected.length} bytes, got ${actual.length} that differ${where}`);
}

/** Processes are killed on purpose in this scope. */
export function ignoringFaults(): Disposable {
  const before = onUnhandledFault(() => {});
  return { [Symbol.dispose]: () => void onUnhandledFault(before) };
}

/** Bytes of a transfer that is to take a while: fewer where every instruction is emulated. */
export function long(bytes: number): number {
  return emulated ? bytes / 16 : bytes;
}

/** What a transfer was refused with. */
export async function codeOf(transfer: Promise<unknown>): Promise<string> {
  try {
    await transfer;
    return "done";
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

export { RdmaBuffer };
