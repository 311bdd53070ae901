// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 9 tools. */
  readonly memory: PmlTools.Memory.Tools;
}

interface KnownTools {
  "memory:create_entities": { args: [args: PmlTools.Memory.CreateEntitiesArgs]; result: PmlTools.Memory.CreateEntitiesResult };
  "memory:create_relations": { args: [args: PmlTools.Memory.CreateRelationsArgs]; result: PmlTools.Memory.CreateRelationsResult };
  "memory:add_observations": { args: [args: PmlTools.Memory.AddObservationsArgs]; result: PmlTools.Memory.AddObservationsResult };
  "memory:delete_entities": { args: [args: PmlTools.Memory.DeleteEntitiesArgs]; result: PmlTools.Memory.DeleteEntitiesResult };
  "memory:delete_observations": { args: [args: PmlTools.Memory.DeleteObservationsArgs]; result: PmlTools.Memory.DeleteObservationsResult };
  "memory:delete_relations": { args: [args: PmlTools.Memory.DeleteRelationsArgs]; result: PmlTools.Memory.DeleteRelationsResult };
  "memory:read_graph": { args: [args?: object | null]; result: PmlTools.Memory.ReadGraphResult };
  "memory:search_nodes": { args: [args: PmlTools.Memory.SearchNodesArgs]; result: PmlTools.Memory.SearchNodesResult };
  "memory:open_nodes": { args: [args: PmlTools.Memory.OpenNodesArgs]; result: PmlTools.Memory.OpenNodesResult };
}

declare namespace PmlTools.Memory {
  interface Tools {
    /** Create multiple new entities */
    create_entities(args: CreateEntitiesArgs): Promise<CreateEntitiesResult>;
    /** Create multiple new relations */
    create_relations(args: CreateRelationsArgs): Promise<CreateRelationsResult>;
    /** Add new observations to */
    add_observations(args: AddObservationsArgs): Promise<AddObservationsResult>;
    /** Delete multiple entities and */
    delete_entities(args: DeleteEntitiesArgs): Promise<DeleteEntitiesResult>;
    /** Delete specific observations from */
    delete_observations(args: DeleteObservationsArgs): Promise<DeleteObservationsResult>;
    /** Delete multiple relations from */
    delete_relations(args: DeleteRelationsArgs): Promise<DeleteRelationsResult>;
    /** Read the entire knowledge */
    read_graph(args?: object | null): Promise<ReadGraphResult>;
    /** Search for nodes in */
    search_nodes(args: SearchNodesArgs): Promise<SearchNodesResult>;
    /** Open specific nodes in */
    open_nodes(args: OpenNodesArgs): Promise<OpenNodesResult>;
  }

  /** Arguments of `memory:create_entities`. */
  interface CreateEntitiesArgs {
    entities: {
      /** The name of the */
      name: string;
      /** The type of the */
      entityType: string;
      /** An array of observation */
      observations: string[];
    }[];
  }

  /** Result of `memory:create_entities`. */
  interface CreateEntitiesResult {
    entities: {
      /** The name of the */
      name: string;
      /** The type of the */
      entityType: string;
      /** An array of observation */
      observations: string[];
    }[];
  }

  /** Arguments of `memory:create_relations`. */
  interface CreateRelationsArgs {
    relations: {
      /** The name of the */
      from: string;
      /** The name of the */
      to: string;
      /** The type of the */
      relationType: string;
    }[];
  }

  /** Result of `memory:create_relations`. */
  interface CreateRelationsResult {
    relations: {
      /** The name of the */
      from: string;
      /** The name of the */
      to: string;
      /** The type of the */
      relationType: string;
    }[];
  }

  /** Arguments of `memory:add_observations`. */
  interface AddObservationsArgs {
    observations: {
      /** The name of the */
      entityName: string;
      /** An array of observation */
      contents: string[];
    }[];
  }

  /** Result of `memory:add_observations`. */
  interface AddObservationsResult {
    results: { entityName: string; addedObservations: string[] }[];
  }

  /** Arguments of `memory:delete_entities`. */
  interface DeleteEntitiesArgs {
    /** An array of entity */
    entityNames: string[];
  }

  /** Result of `memory:delete_entities`. */
  interface DeleteEntitiesResult {
    success: boolean;
    message: string;
  }

  /** Arguments of `memory:delete_observations`. */
  interface DeleteObservationsArgs {
    deletions: {
      /** The name of the */
      entityName: string;
      /** An array of observations */
      observations: string[];
    }[];
  }

  /** Result of `memory:delete_observations`. */
  interface DeleteObservationsResult {
    success: boolean;
    message: string;
  }

  /** Arguments of `memory:delete_relations`. */
  interface DeleteRelationsArgs {
    /** An array of relations */
    relations: {
      /** The name of the */
      from: string;
      /** The name of the */
      to: string;
      /** The type of the */
      relationType: string;
    }[];
  }

  /** Result of `memory:delete_relations`. */
  interface DeleteRelationsResult {
    success: boolean;
    message: string;
  }

  /** Result of `memory:read_graph`. */
  interface ReadGraphResult {
    entities: {
      /** The name of the */
      name: string;
      /** The type of the */
      entityType: string;
      /** An array of observation */
      observations: string[];
    }[];
    relations: {
      /** The name of the */
      from: string;
      /** The name of the */
      to: string;
      /** The type of the */
      relationType: string;
    }[];
  }

  /** Arguments of `memory:search_nodes`. */
  interface SearchNodesArgs {
    /** The search query to */
    query: string;
  }

  /** Result of `memory:search_nodes`. */
  interface SearchNodesResult {
    entities: {
      /** The name of the */
      name: string;
      /** The type of the */
      entityType: string;
      /** An array of observation */
      observations: string[];
    }[];
    relations: {
      /** The name of the */
      from: string;
      /** The name of the */
      to: string;
      /** The type of the */
      relationType: string;
    }[];
  }

  /** Arguments of `memory:open_nodes`. */
  interface OpenNodesArgs {
    /** An array of entity */
    names: string[];
  }

  /** Result of `memory:open_nodes`. */
  interface OpenNodesResult {
    entities: {
      /** The name of the */
      name: string;
      /** The type of the */
      entityType: string;
      /** An array of observation */
      observations: string[];
    }[];
    relations: {
      /** The name of the */
      from: string;
      /** The name of the */
      to: string;
      /** The type of the */
      relationType: string;
    }[];
  }
}
