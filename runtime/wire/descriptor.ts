/**
 * Descriptors of actor interfaces: the endpoints with their codecs and options. Generated code makes them; they are plain
 * data.
 */
import { pascalCase, serviceName } from "../../shared/protobuf/names.js";
import type { Codec } from "./codec.js";
import type { EndpointInterceptor } from "./endpoint-interceptor.js";

/** Describes one endpoint of an actor interface. */
export interface EndpointDescriptor {
  /** The name of the endpoint in the schema. */
  readonly name: string;
  /** The name of the protobuf method: the name in Pascal case, or that of the `@name` tag. */
  readonly method: string;
  /** The id from the lock file, unique in the actor. */
  readonly id: number;
  /**
   * The codec of the arguments as one tuple, without the port of a `@respond` endpoint. Optional arguments at the end
   * may be missing.
   */
  readonly args: Codec<readonly unknown[]>;
  /** The smallest number of arguments. */
  readonly minArgs: number;
  /** The largest number of arguments. */
  readonly maxArgs: number;
  /**
   * The codec of the result, of one item of a stream, or of the message that the port of a `@respond` endpoint accepts.
   * Undefined: the endpoint returns nothing.
   */
  readonly result: Codec<unknown> | undefined;
  /** Whether the endpoint yields a stream of values. */
  readonly stream: boolean;
  /**
   * Whether messages are handled concurrently (`@concurrent`). A number is the largest number of messages at a time.
   */
  readonly concurrent: boolean | number;
  /** Whether calls can be repeated (`@idempotent`). */
  readonly idempotent: boolean;
  /** Whether the handler answers through a port (`@respond`). */
  readonly respond: boolean;
  /** The time limit of the `@timeout` tag, in milliseconds. */
  readonly timeout?: number;
  /** The operation of the `@reduce` tag. */
  readonly reduce?: string;
  /**
   * Whether the answer returns the credit of a message although the endpoint is concurrent. Absent: the credit returns
   * when the handler starts.
   */
  readonly creditWithAnswer?: boolean;
  /** Takes part in the messages of the endpoint. Endpoints that take tensors or have `@propagate` have one. */
  readonly interceptor?: EndpointInterceptor;
  /**
   * The endpoint that this hidden endpoint calls, retaining the result in the process of the actor. Undefined on the
   * endpoints of the schema.
   */
  readonly retains?: EndpointDescriptor;
}

/** Describes an actor interface: its endpoints with their codecs and options. Generated code makes descriptors. */
export interface ActorDescriptor {
  /** Identifies the interface: `<package>/<schema path without extension>#<name>`. */
  readonly key: string;
  /** The name of the interface in the schema. */
  readonly name: string;
  /** The id from the lock file: 32 bits. */
  readonly id: number;
  /** The full name of the protobuf service: `acme.shop.v1.CounterService`. */
  readonly service: string;
  /** A hash of 64 bits of the endpoints and their types. */
  readonly fingerprint: bigint;
  /** The codec of the constructor's arguments as one tuple. */
  readonly args: Codec<readonly unknown[]>;
  /** The smallest number of constructor arguments. */
  readonly minArgs: number;
  /** The largest number of constructor arguments. */
  readonly maxArgs: number;
  /** The codec of the state that checkpoints contain. Undefined: the interface declares no state. */
  readonly state: Codec<unknown> | undefined;
  /** The endpoints, inherited ones included, followed by hidden ones. */
  readonly endpoints: readonly EndpointDescriptor[];
  /** The interfaces that this one extends. */
  readonly extends: readonly (() => ActorDescriptor)[];
}

/** An endpoint, as generated code writes it. Properties that are left out are false or absent. */
export interface EndpointDefinition {
  /** The id from the lock file, unique in the actor. */
  readonly id: number;
  /** The codec and the number of arguments. */
  readonly args: ArgsDefinition;
  /** The codec of the result; absent if the endpoint returns nothing. */
  readonly result?: Codec<unknown>;
  /** The name of the protobuf method, where it is not the name in Pascal case. */
  readonly method?: string;
  /** Whether the endpoint yields a stream of values. */
  readonly stream?: boolean;
  /** Whether messages are handled concurrently. A number is the largest number of messages at a time. */
  readonly concurrent?: boolean | number;
  /** Whether calls can be repeated. */
  readonly idempotent?: boolean;
  /** Whether the handler answers through a port. */
  readonly respond?: boolean;
  /** The time limit in milliseconds. */
  readonly timeout?: number;
  /** The operation that combines answers. */
  readonly reduce?: string;
  /** Takes part in the messages of the endpoint. Endpoints that take tensors or have `@propagate` have one. */
  readonly interceptor?: EndpointInterceptor;
}

/** The codec of a list of arguments, and how many arguments there are. */
export interface ArgsDefinition {
  /** The codec of the arguments as one tuple. */
  readonly codec: Codec<readonly unknown[]>;
  /** The smallest number of arguments. */
  readonly min: number;
  /** The largest number of arguments. */
  readonly max: number;
}

/** An actor interface, as generated code writes it. */
export interface ActorDefinition {
  /** Identifies the interface: `<package>/<schema path without extension>#<name>`. */
  readonly key: string;
  /** The name of the interface in the schema. */
  readonly name: string;
  /** The id from the lock file: 32 bits. */
  readonly id: number;
  /** The full name of the protobuf service. Default: the name of the interface followed by `Service`, in no package. */
  readonly service?: string;
  /** A hash of 64 bits of the endpoints and their types. */
  readonly fingerprint: bigint;
  /**
   * Returns the codec and the number of the constructor's arguments. Called on first use, since modules of codecs can
   * import each other.
   */
  readonly args: () => ArgsDefinition;
  /** Returns the codec of the state that checkpoints contain. Called on first use; absent if there is no state. */
  readonly state?: () => Codec<unknown>;
  /** Returns the endpoints by name. Called on first use. */
  readonly endpoints: () => Readonly<Record<string, EndpointDefinition>>;
  /** The interfaces that this one extends. */
  readonly extends?: readonly (() => ActorDescriptor)[];
}

/**
 * Makes the definition of a list of arguments: `defineArgs(FooArgs, 1, 2)` takes one or two.
 *
 * @param codec the codec of the arguments as one tuple
 * @param min the smallest number of arguments
 * @param max the largest number of arguments
 */
export function defineArgs(codec: Codec<readonly unknown[]>, min: number, max: number): ArgsDefinition {
  return { codec, min, max };
}

/**
 * The interfaces whose generated modules this process has loaded, by key and fingerprint. A process can load two builds
 * of one interface.
 */
const loadedInterfaces = new Map<string, Map<bigint, ActorDescriptor>>();

/**
 * Returns the descriptor of an interface that another process names by its key: the one with the fingerprint if there is
 * one, or else the one that was loaded last. Undefined if no generated module of the interface has been loaded.
 */
export function loadedInterface(key: string, fingerprint: bigint): ActorDescriptor | undefined {
  const builds = loadedInterfaces.get(key);
  return builds?.get(fingerprint) ?? [...(builds?.values() ?? [])].at(-1);
}

/** The keys of the interfaces whose generated modules this process has loaded, by actor id. */
const loadedIds = new Map<number, string>();

/**
 * Checks that no other package has an actor with the same id, by which messages and checkpoints name actors. Two builds
 * of one package may have it: an interface that was renamed keeps its id. The id 0 belongs to no lock file.
 */
function checkActorId({ id, key }: ActorDefinition): void {
  const other = loadedIds.get(id) ?? key;
  if (id !== 0 && packageOf(other) !== packageOf(key)) {
    const hex = `0x${id.toString(16).padStart(8, "0")}`;
    throw new Error(
      `cannot register ${key}: ${other} has the same id, because one of the packages has a copy of the other's lock; ` +
        "remove the block of the actor from viceroy.lock of the package that is not in use yet, and run " +
        `\`npx viceroy compile\` there, got id ${hex}`,
    );
  }
  loadedIds.set(id, key);
}

/** Returns the name of the package in the key of an interface. */
function packageOf(key: string): string {
  return key.split("/", key.startsWith("@") ? 2 : 1).join("/");
}

/**
 * Makes the descriptor of an actor interface from its definition, and remembers it for `loadedInterface`.
 *
 * @throws Error if this process has loaded an actor of another package with the same id
 */
export function defineActor(actor: ActorDefinition): ActorDescriptor {
  checkActorId(actor);
  let args: ArgsDefinition | undefined;
  const getArgs = (): ArgsDefinition => (args ??= actor.args());
  let endpoints: readonly EndpointDescriptor[] | undefined;
  const descriptor: ActorDescriptor = {
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
    get state() {
      return actor.state?.();
    },
    get endpoints() {
      endpoints ??= withRetainingEndpoints(
        Object.entries(actor.endpoints()).map(([name, endpoint]) => describe(name, endpoint)),
      );
      return endpoints;
    },
    extends: actor.extends ?? [],
  };
  const builds = loadedInterfaces.get(actor.key);
  if (builds === undefined) loadedInterfaces.set(actor.key, new Map([[actor.fingerprint, descriptor]]));
  else builds.set(actor.fingerprint, descriptor);
  return descriptor;
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
    ...(endpoint.interceptor === undefined ? {} : { interceptor: endpoint.interceptor }),
  };
}

/** Exceeds every id of a lock file. The id of a hidden endpoint is this number plus the id of its endpoint. */
const RETAINING_ID_OFFSET = 0x4000_0000;

/** Returns the endpoints, followed by one hidden endpoint for each endpoint whose results can be retained. */
function withRetainingEndpoints(endpoints: readonly EndpointDescriptor[]): readonly EndpointDescriptor[] {
  const retaining = endpoints.flatMap((endpoint): EndpointDescriptor[] => {
    const { interceptor, name, method, id } = endpoint;
    if (interceptor?.retainsResults !== true) return [];
    const args = interceptor.retainingArguments(endpoint.args);
    return [
      {
        ...endpoint,
        name: `${name}, kept`,
        method: `${method}Kept`,
        id: id + RETAINING_ID_OFFSET,
        args,
        minArgs: 2,
        maxArgs: 2,
        result: interceptor.retainedResult,
        retains: endpoint,
      },
    ];
  });
  return retaining.length === 0 ? endpoints : [...endpoints, ...retaining];
}
