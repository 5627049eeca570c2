/**
 * Gives this machine as the only host of each mesh. A program uses it at once, without any submission. A command gets a
 * keeper, so that it survives the program that has submitted it.
 */
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import type { Json } from "../json.js";
import type { HostOrder } from "../keeper/keeper-order.js";
import { type KeptAllocation, KeptProvider } from "../keeper/kept-provider.js";
import type { MeshSpec } from "../mesh-spec.js";
import type { Report, Submission } from "../provider.js";

/** What a local job asks for. It is plain JSON: a record contains it. */
export type LocalSpec = {
  readonly meshes: Readonly<Record<string, LocalMeshSpec>>;
  /** Shell lines that run before the command. */
  readonly setup: string | null;
};

type LocalMeshSpec = { readonly [O in keyof MeshSpec]: MeshSpec[O] };

export class LocalProvider extends KeptProvider {
  readonly kind = "local";
  override readonly isOwnHost = true;
  /** Nothing leaves this machine. */
  readonly tls = null;
  readonly spec: LocalSpec;

  constructor(spec: LocalSpec) {
    super();
    this.spec = spec;
  }

  get meshes(): LocalSpec["meshes"] {
    return this.spec.meshes;
  }

  protected override get setup(): string | null {
    return this.spec.setup;
  }

  override async submit(submission: Submission): Promise<KeptAllocation> {
    if (submission.client !== undefined) return super.submit(submission);
    rmSync(submission.folder, { recursive: true, force: true });
    return this.ownAllocation(submission.applyId, submission.folder);
  }

  override async watch(allocation: KeptAllocation, report: Report, signal: AbortSignal): Promise<string> {
    // Only a command has a folder.
    if (existsSync(allocation.logs)) return super.watch(allocation, report, signal);
    if (!signal.aborted) await once(signal, "abort");
    return "this program has left it";
  }

  protected orders(): HostOrder[] {
    return [];
  }
}

/** Makes the provider again from what a record contains. */
export function localProvider(spec: Json): LocalProvider {
  return new LocalProvider(spec as LocalSpec);
}
