/**
 * `ActorHandle`: what a program holds of an actor that a context has created. It is a mesh of one actor, whose endpoints have
 * one more method: `run`, which returns a reference to the answer.
 */
import type {
  ActorDescriptor,
  ActorMesh,
  CallOptions,
  Endpoint,
  MeshOf,
  MeshStopOptions,
  SpawnableClass,
} from "../../index.js";
import { checkStopOptions, viewOf } from "../kernel.js";
import type { ObjectRef } from "../refs/object-ref.js";
import { ActorCalls } from "./actor-calls.js";
import { endpointCodec } from "./endpoint-codec.js";
import type { Answer, RefMaker } from "./ref-maker.js";

/** The arguments of `run`: each is a value, or a reference to one. */
export type RunArgs<A extends unknown[]> = { [I in keyof A]: A[I] | ObjectRef<A[I]> };

/** The method `run`, which the endpoints of handles have in addition. */
export interface RunnableEndpoint<A extends unknown[], R> {
  /**
   * Calls the actor, and returns a reference to its answer. The calls of one process by `run` arrive in the order in which they
   * were made, also when an argument is the result of a task that has not ended; later calls then wait for it. Calls by
   * other methods are sent at once.
   *
   * The reference rejects with {@link TaskError} when the handler threw, and with {@link WorkerLostError} when the actor
   * failed or was stopped.
   *
   * @param args the arguments of the endpoint; each is a value, or a reference to one
   * @returns a reference to the answer
   * @throws {TypeError} when the number of arguments is wrong
   * @throws {CodecError} when a value has a wrong type or is out of range
   * @throws {SupervisionError} when the actor has been stopped
   */
  run(...args: RunArgs<A>): ObjectRef<R>;
  /**
   * Returns the same endpoint with options for its calls, those by `run` included.
   *
   * @param options timeout, signal, retry, trace and waiting
   * @throws {TypeError} when an option has a wrong type, or `retry` is given for an endpoint without `@idempotent`
   * @throws {RangeError} when a number is out of range
   */
  with(options: CallOptions): this;
}

/** An endpoint of a handle. Endpoints that yield streams have no `run`. */
export type HandleEndpoint<E> = E extends { callOne(...args: infer A extends unknown[]): PromiseLike<infer R> }
  ? RunnableEndpoint<A, R> & E
  : E;

/** The names of the endpoints of a mesh. */
export type EndpointNames<M> = Exclude<keyof M, keyof ActorMesh>;

/**
 * An actor that a context has created: a mesh of one actor, whose endpoints also have `run`. It can be sent to actors as any
 * mesh, and it is no promise.
 *
 * `stop` stops the actor, whoever has created it, and frees its name. Dropping the handle does not stop the actor.
 */
export type ActorHandle<C extends SpawnableClass> = {
  readonly [K in EndpointNames<MeshOf<C, never>>]: HandleEndpoint<MeshOf<C, never>[K]>;
} & MeshOf<C, never>;

/** The parts of a handle, apart from the mesh. */
export interface HandleParts {
  readonly refs: RefMaker;
  /** The URL of the registry that has the class of the actor, and the id of the class in it. */
  readonly registry: string;
  readonly classId: string;
  /** The largest number of calls by `run` that are under way. */
  readonly maxConcurrency: number;
  /** Stops the actor. Never rejects. */
  readonly stop: (options: MeshStopOptions) => Promise<void>;
}

type View = ReturnType<typeof viewOf>;
type MeshClass = new (view: View) => ActorMesh;
type HandleClass = new (view: View, state: HandleState) => ActorMesh;
type AnyEndpoint = Endpoint & Partial<Pick<RunnableEndpoint<unknown[], unknown>, "run">>;

/** The state of a handle, in addition to that of a mesh. It is a property, and no endpoint can have its key. */
interface HandleState extends HandleParts {
  /** The endpoints that have been used, by name. */
  readonly endpoints: Map<string, AnyEndpoint>;
}

const stateKey = Symbol("state");

/** The classes of handles, by the classes of meshes, of which there is one for each interface. */
const handleClasses = new WeakMap<object, HandleClass>();

/** The calls of this process to each actor, by the record of its mesh: all handles of an actor share an order. */
const callsByActor = new WeakMap<object, ActorCalls>();

/** Makes a handle for a mesh of one actor. */
export function makeActorHandle(mesh: ActorMesh, parts: HandleParts): ActorMesh {
  const meshClass = mesh.constructor as MeshClass;
  const view = viewOf(mesh);
  let handleClass = handleClasses.get(meshClass);
  if (handleClass === undefined) {
    handleClass = createHandleClass(meshClass, view.descriptor);
    handleClasses.set(meshClass, handleClass);
  }
  return new handleClass(view, { ...parts, endpoints: new Map() });
}

function createHandleClass(meshClass: MeshClass, descriptor: ActorDescriptor): HandleClass {
  const handleClass = class extends meshClass {
    readonly [stateKey]: HandleState;

    constructor(view: View, state: HandleState) {
      super(view);
      this[stateKey] = state;
      // The state is not for people who print the handle.
      Object.defineProperty(this, stateKey, { enumerable: false });
    }

    override stop(options: MeshStopOptions = {}): Promise<void> {
      checkStopOptions(viewOf(this).record.name, options);
      return this[stateKey].stop(options);
    }
  };
  Object.defineProperty(handleClass, "name", { value: `${descriptor.name}Handle`, configurable: true });
  for (const { name, stream, retains } of descriptor.endpoints) {
    if (stream || retains !== undefined) continue;
    const { get } = Object.getOwnPropertyDescriptor(meshClass.prototype, name)!;
    Object.defineProperty(handleClass.prototype, name, {
      get(this: ActorMesh & { readonly [stateKey]: HandleState }) {
        const { endpoints } = this[stateKey];
        let endpoint = endpoints.get(name);
        if (endpoint === undefined) {
          endpoint = addRun(get!.call(this) as Endpoint, name, this, this[stateKey]);
          endpoints.set(name, endpoint);
        }
        return endpoint;
      },
      enumerable: true,
      configurable: true,
    });
  }
  return handleClass;
}

/** Adds `run` to an endpoint that only this handle has, and to those that its `with` returns. */
function addRun(endpoint: Endpoint, name: string, handle: ActorMesh, state: HandleState): AnyEndpoint {
  const { descriptor: actor } = viewOf(handle);
  const descriptor = actor.endpoints.find((each) => each.name === name)!;
  const send = (args: readonly unknown[]) => endpoint.callOne(...args) as Answer;
  const answers = endpointCodec(state.registry, state.classId, descriptor);
  const to = { label: endpoint.toString(), descriptor, answers, send };
  const withOptions = endpoint.with.bind(endpoint);
  return Object.defineProperties(endpoint, {
    run: { value: (...args: unknown[]) => callsTo(handle, state).run(to, args) },
    with: { value: (options: Parameters<Endpoint["with"]>[0]) => addRun(withOptions(options), name, handle, state) },
  });
}

function callsTo(handle: ActorMesh, { refs, maxConcurrency }: HandleState): ActorCalls {
  const { record } = viewOf(handle);
  let calls = callsByActor.get(record);
  if (calls === undefined) {
    calls = new ActorCalls(refs, maxConcurrency);
    callsByActor.set(record, calls);
  }
  return calls;
}
