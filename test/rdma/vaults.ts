/**
 * The common part of the tests of registered memory: vaults in other processes, and the tested transports.
 *
 * VICEROY_TEST_RDMA names the transports, separated by commas. The default are those of any Linux machine; in the
 * virtual machine with RDMA it is `verbs`. Tests of transports that need the addon are skipped if the addon was not
 * built. If VICEROY_PEERS is "required", a missing addon is an error.
 */
import { fileURLToPath } from "node:url";
import { onUnhandledFault, thisHost } from "viceroy";
import { RdmaBuffer, rdmaSupport, type Transport } from "viceroy/rdma";
import { compileProject } from "../proc/crew.js";

const project = fileURLToPath(new URL("project/", import.meta.url));

const named = process.env["VICEROY_TEST_RDMA"] ?? "shared,vm,stream";
const wanted = named.split(",") as Transport[];
const support = rdmaSupport();

/** Returns whether the addon was built. @throws Error if the addon is required and missing */
export const hasAddon = support.addon !== undefined;
if (!hasAddon && process.env["VICEROY_PEERS"] === "required") {
  throw new Error(`cannot test one-sided memory: ${support.why}. Run \`node dist/cli/viceroy.js setup --rdma\``);
}

/** A transport that the whole suite tests, with its properties. */
export interface Tested {
  readonly transport: Transport;
  readonly oneSided: boolean;
  /** Whether the memory must come from `allocate`. */
  readonly allocated: boolean;
  /** Whether opened memory can be read after the owner has died. */
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

/** Returns the initial content of a range of a vault's memory. */
export function patternOf({ pattern }: Vaults, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = pattern(offset + i);
  return bytes;
}

/** Whether the tests run in an emulated machine, where starting a process takes ten times as long as most tests. */
export const emulated = process.env["VICEROY_TEST_EMULATED"] !== undefined;

async function newVaults({ IronVault }: Vaults, count: number) {
  const procs = thisHost().spawnProcs({ vaults: count });
  const mesh = procs.spawn("vaults", IronVault);
  await mesh.ready;
  return { procs, mesh };
}

const free = new Map<number, ReturnType<typeof newVaults>[]>();

/**
 * Starts vaults in separate processes, which end with the scope. In an emulated machine, later scopes reuse them.
 * @param mortal whether the test kills the vaults, so that no other test may use them
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

/** Opens a buffer with a transport. */
export async function by(transport: Transport, buffer: RdmaBuffer): Promise<RdmaBuffer> {
  return buffer.open({ transports: [transport] });
}

/** Compares bytes, and fails with the first difference. `toEqual` is too slow for millions of bytes. */
export function expectBytes(actual: Uint8Array, expected: Uint8Array): void {
  if (Buffer.compare(new Uint8Array(actual), expected) === 0) return;
  const at = actual.findIndex((byte, i) => byte !== expected[i]);
  const where =
    at < 0 || actual.length !== expected.length ? "" : `, first at ${at}: ${actual[at]} for ${expected[at]}`;
  throw new Error(`expected ${expected.length} bytes, got ${actual.length} that differ${where}`);
}

/** Ignores failures of processes, which the test kills, until the end of the scope. */
export function ignoringFaults(): Disposable {
  const before = onUnhandledFault(() => {});
  return { [Symbol.dispose]: () => void onUnhandledFault(before) };
}

/** Number of bytes of a transfer that takes a while; smaller in an emulated machine. */
export function long(bytes: number): number {
  return emulated ? bytes / 16 : bytes;
}

/** Returns the error code of a refused transfer. */
export async function codeOf(transfer: Promise<unknown>): Promise<string> {
  try {
    await transfer;
    return "done";
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

export { RdmaBuffer };
