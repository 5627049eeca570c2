/** The errors of jobs. Each message says which job, what failed, why, and what to do. */

/** Base class of all errors of jobs. */
export abstract class JobError extends Error {
  /** The name of the job. */
  readonly job: string;

  constructor(job: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.job = job;
  }
}

/** Thrown when a job could not be submitted: the provider or the scheduler refused it. Nothing of the job is left. */
export class JobSubmitError extends JobError {
  override readonly name: string = "JobSubmitError";

  /**
   * Makes an error.
   *
   * @param job the name of the job
   * @param reason why, in the words of the provider or the scheduler
   * @param options the cause
   */
  constructor(job: string, reason: string, options?: ErrorOptions) {
    super(job, `cannot submit job "${job}": ${reason}`, options);
  }
}

/** Thrown when the machines of a job could not be stopped. They go on, or some of them are stopped: the message says why. */
export class JobStopError extends JobError {
  override readonly name: string = "JobStopError";

  /**
   * Makes an error.
   *
   * @param job the name of the job
   * @param reason why, in the words of the provider or the scheduler
   * @param options the cause
   */
  constructor(job: string, reason: string, options?: ErrorOptions) {
    super(job, `cannot stop job "${job}": ${reason}`, options);
  }
}

/** Thrown when a submitted job did not get all its hosts: a host ended, or the scheduler ended the job. */
export class JobStartError extends JobError {
  override readonly name: string = "JobStartError";

  /**
   * Makes an error.
   *
   * @param job the name of the job
   * @param reason why, in the words of the provider or the scheduler
   * @param options the cause
   */
  constructor(job: string, reason: string, options?: ErrorOptions) {
    super(job, `cannot start job "${job}": ${reason}`, options);
  }
}

/** Thrown when the hosts of a job were not up within `hostTimeout`, or those of a mesh within the time limit of the mesh. */
export class JobStartTimeoutError extends JobStartError {
  /** The name of the class. */
  override readonly name: string = "JobStartTimeoutError";
  /** The time limit in milliseconds. */
  readonly limit: number;
  /** The hosts that were not up, such as `trainers[2]`: those of the meshes with this limit. */
  readonly missing: readonly string[];

  /**
   * Makes an error.
   *
   * @param job the name of the job
   * @param limit the time limit in milliseconds
   * @param missing the hosts that were not up
   * @param reason what else is known; may be empty
   * @param option the option that sets the limit
   */
  constructor(job: string, limit: number, missing: readonly string[], reason: string, option = "hostTimeout") {
    super(
      job,
      `${missing.join(", ")} did not come up within ${limit} ms (${option})${reason === "" ? "" : `: ${reason}`}`,
    );
    this.limit = limit;
    this.missing = missing;
  }
}

/** Thrown when a scheduler gave fewer hosts than the job asks for. */
export class PartialAllocationError extends JobStartError {
  /** The name of the class. */
  override readonly name: string = "PartialAllocationError";
  /** The number of hosts that the job asks for. */
  readonly wanted: number;
  /** The number of hosts that the scheduler gave. */
  readonly given: number;

  /**
   * Makes an error.
   *
   * @param job the name of the job
   * @param wanted the number of hosts that the job asks for
   * @param given the number of hosts that the scheduler gave
   */
  constructor(job: string, wanted: number, given: number) {
    super(job, `it asks for ${wanted} hosts, and the scheduler gave ${given}`);
    this.wanted = wanted;
    this.given = given;
  }
}

/** Thrown when a job cannot get another size. Its hosts and its meshes are as before. */
export class JobResizeError extends JobError {
  override readonly name = "JobResizeError";

  /**
   * Makes an error.
   *
   * @param job the name of the job
   * @param reason why, and what to do
   * @param options the cause
   */
  constructor(job: string, reason: string, options?: ErrorOptions) {
    super(job, `cannot resize job "${job}": ${reason}`, options);
  }
}

/** Thrown when the controller gives a program no hosts, or these do not come up. Nothing of them is left. */
export class JobProvisionError extends JobError {
  override readonly name = "JobProvisionError";

  /**
   * Makes an error.
   *
   * @param job the name of the job in whose pod the program runs
   * @param reason why, and what to do; if the controller has refused, with the rule and its limit
   * @param options the cause
   */
  constructor(job: string, reason: string, options?: ErrorOptions) {
    super(job, `cannot provision hosts for job "${job}": ${reason}`, options);
  }
}

/** Thrown when a program that only looks at a job wants to change it, or one that uses a job wants to look at it only. */
export class JobReadOnlyError extends JobError {
  override readonly name = "JobReadOnlyError";

  /**
   * Makes an error.
   *
   * @param job the name of the job
   * @param verb what the program wanted to do
   * @param reason why it cannot
   */
  constructor(job: string, verb: string, reason: string) {
    super(job, `cannot ${verb}: ${reason}; make another job of the same options for that (job "${job}")`);
  }
}

/** Thrown when a program cannot detach from a job. Unless the message says otherwise, nothing has changed. */
export class JobDetachError extends JobError {
  override readonly name = "JobDetachError";
  /** What stands in the way: one text for each mesh or option. */
  readonly reasons: readonly string[];

  /**
   * Makes an error.
   *
   * @param job the name of the job
   * @param reasons what stands in the way
   * @param options the cause
   */
  constructor(job: string, reasons: readonly string[], options?: ErrorOptions) {
    super(job, `cannot detach job "${job}": ${reasons.join("; ")}`, options);
    this.reasons = reasons;
  }
}

/** Thrown when a job ended while it was in use. */
export class JobLostError extends JobError {
  override readonly name = "JobLostError";

  /**
   * Makes an error.
   *
   * @param job the name of the job
   * @param reason why, in the words of the provider or the scheduler
   * @param options the cause
   */
  constructor(job: string, reason: string, options?: ErrorOptions) {
    super(job, `job "${job}" is gone: ${reason}`, options);
  }
}

/** Thrown when a process on a host asks something of its job that only the machine that holds the hosts can do. */
export class JobElsewhereError extends JobError {
  override readonly name = "JobElsewhereError";
  /** The name of the machine that holds the hosts. */
  readonly machine: string;

  /**
   * Makes an error.
   *
   * @param job the name of the job
   * @param machine the name of the machine that holds the hosts
   */
  constructor(job: string, machine: string) {
    super(
      job,
      `cannot use job "${job}" on this machine: the machine ${JSON.stringify(machine)} has submitted it and holds its ` +
        "hosts; use the job in a program there",
    );
    this.machine = machine;
  }
}

/** Thrown when the cache file of a job cannot be used. The file is never changed or removed then. */
export class JobCacheError extends Error {
  override readonly name = "JobCacheError";
  /** The path of the file. */
  readonly file: string;

  constructor(file: string, reason: string, options?: ErrorOptions) {
    super(`cannot use the job cache ${file}: ${reason}`, options);
    this.file = file;
  }
}

/** Thrown when a program reads a mesh that its job does not have. */
export class NoSuchMeshError extends Error {
  override readonly name = "NoSuchMeshError";
  /** The names that exist. */
  readonly names: readonly string[];

  constructor(job: string, mesh: string, names: readonly string[]) {
    super(
      `job "${job}" has no mesh ${JSON.stringify(mesh)}; it has ${names.map((name) => JSON.stringify(name)).join(", ")}`,
    );
    this.names = names;
  }
}
