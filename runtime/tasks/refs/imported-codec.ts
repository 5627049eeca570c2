/** The codec of a result that a schema describes, in a process that has got a reference to the result. */
import type { TaskFunction } from "../../../generated/tasks.js";
import { loadEndpointCodec } from "../actors/endpoint-codec.js";
import { findFunction } from "../function-registry.js";
import { schemaCodec } from "../schema-codec.js";
import type { PlainPlace } from "../values/index.js";
import type { ValueCodec } from "./value-codec.js";

export class ImportedCodec implements ValueCodec {
  readonly task: TaskFunction;
  #codec: ValueCodec | undefined;

  constructor(task: TaskFunction) {
    this.task = task;
  }

  /** Undefined until the module is loaded: such values are decoded before they are passed on. */
  get fingerprint(): bigint | undefined {
    return this.#codec?.fingerprint;
  }

  get name(): string {
    return `the result of ${this.task.name}`;
  }

  /** Imports the module of the task or of the actor. Rejects if it cannot be loaded, or has another schema. */
  readonly load = async (): Promise<void> => {
    if (this.task.endpoint !== undefined) {
      this.#codec = await loadEndpointCodec(this.task);
      return;
    }
    const { task } = await findFunction(this.task);
    this.#codec = schemaCodec(task.schema!.result);
  };

  encode(value: unknown, place: PlainPlace): Uint8Array {
    return this.#codec!.encode(value, place);
  }

  decode(bytes: Uint8Array): unknown {
    return this.#codec!.decode(bytes);
  }
}
