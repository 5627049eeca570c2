/** An actor in several versions of its schema, written by hand: what processes of different builds know of each other. */
import { Actor } from "../../runtime/actor/actor.js";
import type { Endpoint } from "../../runtime/actor/call/endpoint.js";
import type { StreamEndpoint } from "../../runtime/actor/call/stream-endpoint.js";
import type { ActorMesh } from "../../runtime/actor/mesh/actor-mesh.js";
import type { MeshKind } from "../../runtime/actor/mesh-kind.js";
import type { Port } from "../../runtime/actor/port/port.js";
import type { Codec } from "../../runtime/wire/codec.js";
import { codec } from "../../runtime/wire/composed/index.js";
import {
  type ActorDescriptor,
  defineActor,
  defineArgs,
  type EndpointDefinition,
} from "../../runtime/wire/descriptor.js";

export interface Sample {
  name: string;
  value: number;
  raw?: Uint8Array;
  unit?: string;
}

const members = { name: codec.string, value: codec.int32, raw: codec.optional(codec.bytes) };
export const oldSample = codec.object("Sample", members) as Codec<Sample>;
/** One member more, before the others: numbers tell them apart. */
export const newSample = codec.object(
  "Sample",
  { unit: codec.optional(codec.string), ...members },
  { numbers: [4, 1, 2, 3] },
) as Codec<Sample>;
/** `value` is text. */
export const otherSample = codec.object("Sample", { ...members, value: codec.string }) as unknown as Codec<Sample>;

const none = defineArgs(codec.tuple(), 0, 0);
const int = defineArgs(codec.tuple(codec.int32), 1, 1);

function gauge(fingerprint: bigint, sample: Codec<Sample>, more: Readonly<Record<string, EndpointDefinition>> = {}) {
  const descriptor: ActorDescriptor = defineActor({
    key: "test/gauge#Gauge",
    name: "Gauge",
    id: 9,
    fingerprint,
    args: () => none,
    endpoints: () => ({
      echo: { id: 1, args: defineArgs(codec.tuple(sample), 1, 1), result: sample },
      note: { id: 2, args: int },
      log: { id: 3, args: none, result: codec.array(codec.int32) },
      watch: { id: 4, args: int, result: sample, stream: true },
      answer: { id: 5, args: int, result: sample, respond: true },
      feed: { id: 6, args: defineArgs(codec.tuple(codec.port(() => sample)), 1, 1) },
      ...more,
      ask: {
        id: 7,
        args: defineArgs(codec.tuple(codec.mesh<GaugeMesh>(() => descriptor)), 1, 1),
        result: codec.array(codec.int32),
      },
      count: { id: 9, args: none, result: codec.int32, reduce: "sum" },
      fail: { id: 10, args: none },
    }),
  });
  return descriptor;
}

export const oldGauge = gauge(1n, oldSample);
/** One member and one endpoint more; the endpoint stands before others. */
export const newGauge = gauge(2n, newSample, { reset: { id: 8, args: none } });
export const otherGauge = gauge(3n, otherSample);

export interface GaugeKind extends MeshKind {
  readonly args: [];
  readonly mesh: GaugeMesh<this["dims"]>;
}

export interface GaugeMesh<D extends string = string> extends ActorMesh<GaugeKind, D> {
  readonly echo: Endpoint<[sample: Sample], Sample, D>;
  readonly note: Endpoint<[number: number], void, D>;
  readonly log: Endpoint<[], number[], D>;
  readonly watch: StreamEndpoint<[count: number], Sample, D>;
  readonly answer: Endpoint<[value: number], Sample, D>;
  readonly feed: Endpoint<[to: Port<Sample>], void, D>;
  readonly reset: Endpoint<[], void, D>;
  readonly ask: Endpoint<[peer: GaugeMesh], number[], D>;
  readonly count: Endpoint<[], number, D, "sum">;
  readonly fail: Endpoint<[], void, D>;
}

/** A gauge of the old version; those of others share its methods. */
export class OldGauge extends Actor {
  static override get descriptor(): ActorDescriptor {
    return oldGauge;
  }
  declare readonly $kind: GaugeKind;
  readonly noted: number[] = [];
  echoed = 0;

  echo(sample: Sample): Sample {
    this.echoed++;
    return sample;
  }

  note(number: number): void {
    this.noted.push(number);
  }

  log(): number[] {
    return this.noted;
  }

  *watch(count: number): Generator<Sample> {
    for (let value = 0; value < count; value++) yield { name: "w", value };
  }

  answer(port: Port<Sample>, value: number): void {
    void port.send({ name: "answered", value });
  }

  feed(to: Port<Sample>): void {
    for (let value = 0; value < 3; value++) void to.send({ name: "fed", value, unit: "K" });
  }

  async ask(peer: GaugeMesh): Promise<number[]> {
    return (peer as unknown as GaugeMesh<never>).log.callOne();
  }

  count(): number {
    return this.noted.length;
  }

  fail(): void {
    throw new RangeError("out of range");
  }
}

export class NewGauge extends OldGauge {
  static override get descriptor(): ActorDescriptor {
    return newGauge;
  }

  reset(): void {
    this.noted.length = 0;
  }
}

export class OtherGauge extends OldGauge {
  static override get descriptor(): ActorDescriptor {
    return otherGauge;
  }
}
