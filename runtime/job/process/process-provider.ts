/**
 * Gives hosts that are processes on this machine: each is a daemon of its own, `viceroy host`, in a session of its own,
 * at a Unix socket. A keeper holds them, so that they can outlive the driver.
 */
import { fileURLToPath } from "node:url";
import type { Json } from "../json.js";
import type { HostOrder } from "../keeper/keeper-order.js";
import {
  definedVariables,
  type GrowParameters,
  type KeptAllocation,
  KeptProvider,
  placeVariables,
  type ShrinkParameters,
  withSetup,
} from "../keeper/kept-provider.js";
import { type HostPlace, hostPlaces } from "../mesh-spec.js";
import type { ReadyHost } from "../provider.js";

/** What a job of processes asks for. */
export type ProcessSpec = {
  readonly meshes: Readonly<Record<string, { readonly hosts: number }>>;
  /** Environment variables in addition to those of the driver. */
  readonly env: Readonly<Record<string, string>>;
  /** Shell lines that run on each host first. */
  readonly setup: string | null;
  /** The Node.js that runs the hosts; null for that of the driver. */
  readonly node: string | null;
};

const commandLine = fileURLToPath(new URL("./cli/viceroy.js", import.meta.url));

export class ProcessProvider extends KeptProvider {
  readonly kind = "process";
  /** The sockets of the hosts are in a private directory of this machine. */
  readonly tls = null;
  readonly spec: ProcessSpec;

  constructor(spec: ProcessSpec) {
    super();
    this.spec = spec;
  }

  protected override get setup(): string | null {
    return this.spec.setup;
  }

  protected override get clientEnv(): ProcessSpec["env"] {
    return this.spec.env;
  }

  get meshes(): ProcessSpec["meshes"] {
    return this.spec.meshes;
  }

  protected orders({ directory }: KeptAllocation, mark: Readonly<Record<string, string>>): HostOrder[] {
    return hostPlaces(this.meshes).map((place, index) => this.#order(place, `${directory}/${index}.sock`, mark));
  }

  grow(...parameters: GrowParameters): Promise<readonly ReadyHost[]> {
    const [{ directory }] = parameters;
    const meshes = Object.keys(this.meshes);
    return this.growBy(
      (mark, place) => {
        return this.#order(place, `${directory}/${meshes.indexOf(place.mesh)}-${place.rank}.sock`, mark);
      },
      ...parameters,
    );
  }

  shrink(...parameters: ShrinkParameters): Promise<() => Promise<void>> {
    return this.shrinkTo(...parameters);
  }

  #order(place: HostPlace, socket: string, mark: Readonly<Record<string, string>>): HostOrder {
    return {
      ...place,
      command: this.#command(`unix://${socket}`),
      env: { ...definedVariables(process.env), ...this.spec.env, ...mark, ...placeVariables(place) },
      cwd: process.cwd(),
    };
  }

  #command(listen: string): readonly string[] {
    const { setup, node } = this.spec;
    const command = [node ?? process.execPath, commandLine, "host", "--lifeline", "--print", "--listen", listen];
    return withSetup(setup, command);
  }
}

/** Makes the provider again from what a record contains. */
export function processProvider(spec: Json): ProcessProvider {
  return new ProcessProvider(spec as ProcessSpec);
}
