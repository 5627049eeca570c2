/**
 * What the runtime knows of an actor interface: its endpoints, their codecs and options. Plain data made by generated
 * code; nothing here calls anything.
 */
import { pascalCase, serviceName } from "../../schemas/protobuf/names.js";
import type { Codec } from "./codec.js";
import type { TensorSupport } from "./tensor-support.js";

export interface EndpointDescriptor {
  readonly name: string;
  /** Of its service in protobuf: its name in Pascal case, or what `@name` says. */
  readonly method: string;
  /** From the lock, unique in its actor. */
  readonly id: number;
  /** Of the arguments as one tuple, without the port of `@respond`. Trailing optional ones may be missing. */
  readonly args: Codec<readonly unknown[]>;
  readonly minArgs: number;
  readonly maxArgs: number;
  /** Undefined: void. Of a streaming endpoint the codec of one item, with `@respond` of what the port takes. */
  readonly result: Codec<unknown> | undefined;
  readonly stream: boolean;
  /** A number: so many of its messages at once. */
  readonly concurrent: boolean | number;
  readonly idempotent: boolean;
  readonly respond: boolean;
  /** In milliseconds. */
  readonly timeout?: number;
  readonly reduce?: string;
  /** It takes or answers tensors. */
  readonly tensors?: TensorSupport;
  /** Nobody sees it: by it the endpoint of this name is called where its answers stay with the actors. */
  readonly keeps?: EndpointDescriptor;
}

export interface ActorDescriptor {
  /** `<package>/<schema path without extension>#<name>`. */
  readonly key: string;
  readonly name: string;
  /** 32 bits, from the lock. */
  readonly id: number;
  /** The full name of its service in protobuf: `acme.shop.v1.CounterService`. */
  readonly service: string;
  readonly fingerprint: bigint;
  /** Of the constructor's arguments. */
  readonly args: Codec<readonly unknown[]>;
  readonly minArgs: number;
  readonly maxArgs: number;
  /** Inherited ones included; at the end those that nobody sees. */
  readonly endpoints: readonly EndpointDescriptor[];
  readonly extends: readonly (() => ActorDescriptor)[];
}

/** An endpoint as generated code writes it: what is false or absent is left out. */
export interface EndpointDefinition {
  readonly id: number;
  readonly args: ArgsDefinition;
  readonly result?: Codec<unknown>;
  readonly method?: string;
  readonly stream?: boolean;
  readonly concurrent?: boolean | number;
  readonly idempotent?: boolean;
  readonly respond?: boolean;
  readonly timeout?: number;
  readonly reduce?: string;
  readonly tensors?: TensorSupport;
}

/** The codec of a list of arguments with how many there must and may be. */
export interface ArgsDefinition {
  readonly codec: Codec<readonly unknown[]>;
  readonly min: number;
  readonly max: number;
}

export interface ActorDefinition {
  readonly key: string;
  readonly name: string;
  readonly id: number;
  /** Not given: its name with `Service` behind it, in no package. */
  readonly service?: string;
  readonly fingerprint: bigint;
  /** This and `endpoints` are called on first use: codecs may live in modules that import this one. */
  readonly args: () => ArgsDefinition;
  readonly endpoints: () => Readonly<Record<string, EndpointDefinition>>;
  readonly extends?: readonly (() => ActorDescriptor)[];
}

/** `defineArgs(FooArgs, 1, 2)`: one argument that must be given and one that may be. */
export function defineArgs(codec: Codec<readonly unknown[]>, min: number, max: number): ArgsDefinition {
  return { codec, min, max };
}

export function defineActor(actor: ActorDefinition): ActorDescriptor {
  let args: ArgsDefinition | undefined;
  const getArgs = (): ArgsDefinition => (args ??= actor.args());
  let endpoints: readonly EndpointDescriptor[] | undefined;
  return {
    key: actor.key,
    name: actor.name,
    id: actor.id,
    service: actor.service ?? serviceName(actor.name),
    fingerprint: actor.fingerprint,
    get args() {
      return getArgs().codec;
    },
    get minArgs() {
      return getArgs().min;
    },
    get maxArgs() {
      return getArgs().max;
    },
    get endpoints() {
      endpoints ??= withKeeping(Object.entries(actor.endpoints()).map(([name, endpoint]) => describe(name, endpoint)));
      return endpoints;
    },
    extends: actor.extends ?? [],
  };
}

function describe(name: string, endpoint: EndpointDefinition): EndpointDescriptor {
  return {
    name,
    method: endpoint.method ?? pascalCase(name),
    id: endpoint.id,
    args: endpoint.args.codec,
    minArgs: endpoint.args.min,
    maxArgs: endpoint.args.max,
    result: endpoint.result,
    stream: endpoint.stream ?? false,
    concurrent: endpoint.concurrent ?? false,
    idempotent: endpoint.idempotent ?? false,
    respond: endpoint.respond ?? false,
    ...(endpoint.timeout === undefined ? {} : { timeout: endpoint.timeout }),
    ...(endpoint.reduce === undefined ? {} : { reduce: endpoint.reduce }),
    ...(endpoint.tensors === undefined ? {} : { tensors: endpoint.tensors }),
  };
}

/** More than any id of the lock: what stands beside an endpoint has its id and this. */
const KEEPS = 0x4000_0000;

/** With those that keep answers, behind all others. */
function withKeeping(endpoints: readonly EndpointDescriptor[]): readonly EndpointDescriptor[] {
  const keeping = endpoints.flatMap((endpoint): EndpointDescriptor[] => {
    const { tensors, name, method, id } = endpoint;
    if (tensors?.propagates !== true) return [];
    const args = tensors.keptArgs(endpoint.args);
    return [
      {
        ...endpoint,
        name: `${name}, kept`,
        method: `${method}Kept`,
        id: id + KEEPS,
        args,
        minArgs: 2,
        maxArgs: 2,
        result: tensors.keptResult,
        keeps: endpoint,
      },
    ];
  });
  return keeping.length === 0 ? endpoints : [...endpoints, ...keeping];
}
