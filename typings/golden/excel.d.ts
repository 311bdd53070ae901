// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 46 tools. */
  readonly excel: PmlTools.Excel.Tools;
}

interface KnownTools {
  "excel:create_workbook": { args: [args: PmlTools.Excel.CreateWorkbookArgs]; result: any };
  "excel:describe_workbook": { args: [args: PmlTools.Excel.DescribeWorkbookArgs]; result: PmlTools.Excel.DescribeWorkbookResult };
  "excel:set_workbook_settings": { args: [args: PmlTools.Excel.SetWorkbookSettingsArgs]; result: any };
  "excel:list_workbooks": { args: [args?: PmlTools.Excel.ListWorkbooksArgs | null]; result: PmlTools.Excel.ListWorkbooksResult };
  "excel:export_workbook": { args: [args: PmlTools.Excel.ExportWorkbookArgs]; result: any };
  "excel:import_workbook": { args: [args: PmlTools.Excel.ImportWorkbookArgs]; result: any };
  "excel:import_csv": { args: [args: PmlTools.Excel.ImportCsvArgs]; result: any };
  "excel:export_csv": { args: [args: PmlTools.Excel.ExportCsvArgs]; result: any };
  "excel:describe_sheet": { args: [args: PmlTools.Excel.DescribeSheetArgs]; result: PmlTools.Excel.DescribeSheetResult };
  "excel:create_sheet": { args: [args: PmlTools.Excel.CreateSheetArgs]; result: any };
  "excel:rename_sheet": { args: [args: PmlTools.Excel.RenameSheetArgs]; result: any };
  "excel:copy_sheet": { args: [args: PmlTools.Excel.CopySheetArgs]; result: any };
  "excel:delete_sheet": { args: [args: PmlTools.Excel.DeleteSheetArgs]; result: any };
  "excel:insert_rows_or_columns": { args: [args: PmlTools.Excel.InsertRowsOrColumnsArgs]; result: any };
  "excel:delete_rows_or_columns": { args: [args: PmlTools.Excel.DeleteRowsOrColumnsArgs]; result: any };
  "excel:read_range": { args: [args: PmlTools.Excel.ReadRangeArgs]; result: PmlTools.Excel.ReadRangeResult };
  "excel:write_range": { args: [args: PmlTools.Excel.WriteRangeArgs]; result: any };
  "excel:clear_range": { args: [args: PmlTools.Excel.ClearRangeArgs]; result: any };
  "excel:copy_range": { args: [args: PmlTools.Excel.CopyRangeArgs]; result: any };
  "excel:sort_range": { args: [args: PmlTools.Excel.SortRangeArgs]; result: any };
  "excel:transform_range": { args: [args: PmlTools.Excel.TransformRangeArgs]; result: any };
  "excel:find_cells": { args: [args: PmlTools.Excel.FindCellsArgs]; result: PmlTools.Excel.FindCellsResult };
  "excel:replace_cells": { args: [args: PmlTools.Excel.ReplaceCellsArgs]; result: any };
  "excel:trace_formula": { args: [args: PmlTools.Excel.TraceFormulaArgs]; result: PmlTools.Excel.TraceFormulaResult };
  "excel:goal_seek": { args: [args: PmlTools.Excel.GoalSeekArgs]; result: any };
  "excel:format_range": { args: [args: PmlTools.Excel.FormatRangeArgs]; result: any };
  "excel:merge_cells": { args: [args: PmlTools.Excel.MergeCellsArgs]; result: any };
  "excel:set_sheet_layout": { args: [args: PmlTools.Excel.SetSheetLayoutArgs]; result: any };
  "excel:add_conditional_format": { args: [args: PmlTools.Excel.AddConditionalFormatArgs]; result: any };
  "excel:add_data_validation": { args: [args: PmlTools.Excel.AddDataValidationArgs]; result: any };
  "excel:set_table": { args: [args: PmlTools.Excel.SetTableArgs]; result: any };
  "excel:create_chart": { args: [args: PmlTools.Excel.CreateChartArgs]; result: any };
  "excel:delete_chart": { args: [args: PmlTools.Excel.DeleteChartArgs]; result: any };
  "excel:add_sparklines": { args: [args: PmlTools.Excel.AddSparklinesArgs]; result: any };
  "excel:delete_sparklines": { args: [args: PmlTools.Excel.DeleteSparklinesArgs]; result: any };
  "excel:create_pivot_table": { args: [args: PmlTools.Excel.CreatePivotTableArgs]; result: any };
  "excel:delete_pivot_table": { args: [args: PmlTools.Excel.DeletePivotTableArgs]; result: any };
  "excel:add_slicer": { args: [args: PmlTools.Excel.AddSlicerArgs]; result: any };
  "excel:delete_slicer": { args: [args: PmlTools.Excel.DeleteSlicerArgs]; result: any };
  "excel:set_defined_name": { args: [args: PmlTools.Excel.SetDefinedNameArgs]; result: any };
  "excel:delete_defined_name": { args: [args: PmlTools.Excel.DeleteDefinedNameArgs]; result: any };
  "excel:set_note": { args: [args: PmlTools.Excel.SetNoteArgs]; result: any };
  "excel:delete_note": { args: [args: PmlTools.Excel.DeleteNoteArgs]; result: any };
  "excel:insert_image": { args: [args: PmlTools.Excel.InsertImageArgs]; result: any };
  "excel:delete_image": { args: [args: PmlTools.Excel.DeleteImageArgs]; result: any };
  "excel:read_vba": { args: [args: PmlTools.Excel.ReadVbaArgs]; result: PmlTools.Excel.ReadVbaResult };
}

declare namespace PmlTools.Excel {
  interface Tools {
    /** Create a new, empty */
    create_workbook<T = unknown>(args: CreateWorkbookArgs): Promise<T>;
    /** Start here: a workbook's */
    describe_workbook(args: DescribeWorkbookArgs): Promise<DescribeWorkbookResult>;
    /** Set document properties, calculation */
    set_workbook_settings<T = unknown>(args: SetWorkbookSettingsArgs): Promise<T>;
    /** List Excel files in */
    list_workbooks(args?: ListWorkbooksArgs | null): Promise<ListWorkbooksResult>;
    /** Return the workbook file */
    export_workbook<T = unknown>(args: ExportWorkbookArgs): Promise<T>;
    /** Upload a workbook to */
    import_workbook<T = unknown>(args: ImportWorkbookArgs): Promise<T>;
    /** Import a CSV file */
    import_csv<T = unknown>(args: ImportCsvArgs): Promise<T>;
    /** Export a range (formula */
    export_csv<T = unknown>(args: ExportCsvArgs): Promise<T>;
    /** Describe a sheet: used */
    describe_sheet(args: DescribeSheetArgs): Promise<DescribeSheetResult>;
    /** Add an empty worksheet. */
    create_sheet<T = unknown>(args: CreateSheetArgs): Promise<T>;
    /** Rename a worksheet; references */
    rename_sheet<T = unknown>(args: RenameSheetArgs): Promise<T>;
    /** Copy a worksheet to */
    copy_sheet<T = unknown>(args: CopySheetArgs): Promise<T>;
    /** Delete a sheet and */
    delete_sheet<T = unknown>(args: DeleteSheetArgs): Promise<T>;
    /** Insert empty rows or */
    insert_rows_or_columns<T = unknown>(args: InsertRowsOrColumnsArgs): Promise<T>;
    /** Delete rows or columns */
    delete_rows_or_columns<T = unknown>(args: DeleteRowsOrColumnsArgs): Promise<T>;
    /** Read cell values as */
    read_range(args: ReadRangeArgs): Promise<ReadRangeResult>;
    /** Write values into cells, */
    write_range<T = unknown>(args: WriteRangeArgs): Promise<T>;
    /** Clear a range's values, */
    clear_range<T = unknown>(args: ClearRangeArgs): Promise<T>;
    /** Copy and paste a */
    copy_range<T = unknown>(args: CopyRangeArgs): Promise<T>;
    /** Sort a range's rows */
    sort_range<T = unknown>(args: SortRangeArgs): Promise<T>;
    /** Remove duplicate rows, split */
    transform_range<T = unknown>(args: TransformRangeArgs): Promise<T>;
    /** Find cells whose value */
    find_cells(args: FindCellsArgs): Promise<FindCellsResult>;
    /** Replace text in cells, */
    replace_cells<T = unknown>(args: ReplaceCellsArgs): Promise<T>;
    /** Audit formulas, calculated here. */
    trace_formula(args: TraceFormulaArgs): Promise<TraceFormulaResult>;
    /** Goal Seek: change the */
    goal_seek<T = unknown>(args: GoalSeekArgs): Promise<T>;
    /** Change the font, fill, */
    format_range<T = unknown>(args: FormatRangeArgs): Promise<T>;
    /** Merge a range into */
    merge_cells<T = unknown>(args: MergeCellsArgs): Promise<T>;
    /** Set column widths, row */
    set_sheet_layout<T = unknown>(args: SetSheetLayoutArgs): Promise<T>;
    /** Add a conditional format */
    add_conditional_format<T = unknown>(args: AddConditionalFormatArgs): Promise<T>;
    /** Restrict what can be */
    add_data_validation<T = unknown>(args: AddDataValidationArgs): Promise<T>;
    /** Create a table, or */
    set_table<T = unknown>(args: SetTableArgs): Promise<T>;
    /** Add or replace a */
    create_chart<T = unknown>(args: CreateChartArgs): Promise<T>;
    /** Remove a chart; its */
    delete_chart<T = unknown>(args: DeleteChartArgs): Promise<T>;
    /** Add sparklines (Insert > */
    add_sparklines<T = unknown>(args: AddSparklinesArgs): Promise<T>;
    /** Remove the sparklines in */
    delete_sparklines<T = unknown>(args: DeleteSparklinesArgs): Promise<T>;
    /** Add a PivotTable that */
    create_pivot_table<T = unknown>(args: CreatePivotTableArgs): Promise<T>;
    /** Remove a PivotTable and */
    delete_pivot_table<T = unknown>(args: DeletePivotTableArgs): Promise<T>;
    /** Add a slicer (Insert */
    add_slicer<T = unknown>(args: AddSlicerArgs): Promise<T>;
    /** Remove a slicer or */
    delete_slicer<T = unknown>(args: DeleteSlicerArgs): Promise<T>;
    /** Create a defined name */
    set_defined_name<T = unknown>(args: SetDefinedNameArgs): Promise<T>;
    /** Delete a defined name; */
    delete_defined_name<T = unknown>(args: DeleteDefinedNameArgs): Promise<T>;
    /** Add a note to */
    set_note<T = unknown>(args: SetNoteArgs): Promise<T>;
    /** Remove the note from */
    delete_note<T = unknown>(args: DeleteNoteArgs): Promise<T>;
    /** Place an image at */
    insert_image<T = unknown>(args: InsertImageArgs): Promise<T>;
    /** Remove an image from */
    delete_image<T = unknown>(args: DeleteImageArgs): Promise<T>;
    /** Show the VBA code */
    read_vba(args: ReadVbaArgs): Promise<ReadVbaResult>;
  }

  /** Arguments of `excel:create_workbook`. */
  interface CreateWorkbookArgs {
    path: string;
    /** Default: ['Sheet1']. @minItems 1 */
    sheets?: string[];
    /** Replace an existing file */
    overwrite?: boolean;
  }

  /** Arguments of `excel:describe_workbook`. */
  interface DescribeWorkbookArgs {
    path: string;
  }

  /** Result of `excel:describe_workbook`. */
  interface DescribeWorkbookResult {
    sheets: DescribeWorkbookSheetSummary[];
    chart_sheets?: string[];
    defined_names?: DescribeWorkbookDefinedNameInfo[];
    has_vba?: boolean;
    /** @default {"title":"","subject":"","author":"","keywords":"","company":""} */
    doc_properties?: DescribeWorkbookPropertiesInfo;
    /** @default {"mode":"auto","iterative":false,"max_iterations":100,"max_change":0.001,"full_calc_on_load":false} */
    calculation?: DescribeWorkbookCalculationInfo;
    structure_protected?: boolean;
  }

  interface DescribeWorkbookSheetSummary {
    name: string;
    used_range: string;
    /** @default "visible" */
    visibility?: "visible" | "hidden" | "very_hidden";
    active?: boolean;
    /** @default {"tables":0,"charts":0,"pivot_tables":0,"slicers":0,"images":0} */
    objects?: DescribeWorkbookObjectCounts;
  }

  interface DescribeWorkbookDefinedNameInfo {
    name: string;
    refers_to: string;
    sheet?: string;
  }

  interface DescribeWorkbookPropertiesInfo {
    /** @default "" */
    title?: string;
    /** @default "" */
    subject?: string;
    /** @default "" */
    author?: string;
    /** @default "" */
    keywords?: string;
    /** @default "" */
    company?: string;
  }

  interface DescribeWorkbookCalculationInfo {
    /** @default "auto" */
    mode?: "auto" | "manual" | "auto_except_tables";
    iterative?: boolean;
    /** @integer @default 100 */
    max_iterations?: number;
    /** @default 0.001 */
    max_change?: number;
    full_calc_on_load?: boolean;
  }

  interface DescribeWorkbookObjectCounts {
    /** @integer @default 0 */
    tables?: number;
    /** @integer @default 0 */
    charts?: number;
    /** @integer @default 0 */
    pivot_tables?: number;
    /** @integer @default 0 */
    slicers?: number;
    /** @integer @default 0 */
    images?: number;
  }

  /** Arguments of `excel:set_workbook_settings`. */
  interface SetWorkbookSettingsArgs {
    path: string;
    settings: SetWorkbookSettingsWorkbookSettings;
  }

  interface SetWorkbookSettingsWorkbookSettings {
    doc_properties?: SetWorkbookSettingsProperties;
    calculation?: SetWorkbookSettingsCalculation;
    structure_protection?: SetWorkbookSettingsStructureProtection;
  }

  /** Fields left out are */
  interface SetWorkbookSettingsProperties {
    title?: string;
    subject?: string;
    author?: string;
    keywords?: string;
    company?: string;
  }

  interface SetWorkbookSettingsCalculation {
    /** 'manual': only on request */
    mode?: "auto" | "manual" | "auto_except_tables";
    /** Allow circular references. */
    iterative?: boolean;
    /** @integer @maximum 32767 */
    max_iterations?: number;
    /** Stop when results change */
    max_change?: number;
    /** Recalculate on open. */
    full_calc_on_load?: boolean;
  }

  interface SetWorkbookSettingsStructureProtection {
    /** False unprotects. */
    enabled: boolean;
    /** To set; to unprotect, @maxLength 255 */
    password?: string;
  }

  /** Arguments of `excel:list_workbooks`. */
  interface ListWorkbooksArgs {
    /** Default: the first workbook @default "" */
    directory?: string;
    recursive?: boolean;
  }

  /** Result of `excel:list_workbooks`. */
  interface ListWorkbooksResult {
    /** @integer */
    [key: string]: number;
  }

  /** Arguments of `excel:export_workbook`. */
  interface ExportWorkbookArgs {
    path: string;
  }

  /** Arguments of `excel:import_workbook`. */
  interface ImportWorkbookArgs {
    path: string;
    content_base64: string;
    overwrite?: boolean;
  }

  /** Arguments of `excel:import_csv`. */
  interface ImportCsvArgs {
    path: string;
    /** .csv or .tsv file, */
    csv_path: string;
    /** Created if missing. */
    sheet: string;
    /** Top-left cell. @default "A1" */
    at?: string;
    /** 'auto': most frequent in @default "auto" */
    delimiter?: "auto" | "comma" | "semicolon" | "tab" | "pipe";
    /** 'utf-8' also reads a @default "utf-8" */
    encoding?: "utf-8" | "utf-8-sig" | "cp1252" | "utf-16";
    /** Decimal mark; the other @default "." */
    decimal?: "." | ",";
    /** 'dmy' or 'mdy' also @default "ymd" */
    date_order?: "ymd" | "dmy" | "mdy";
    /** Keep every field as */
    as_text?: boolean;
  }

  /** Arguments of `excel:export_csv`. */
  interface ExportCsvArgs {
    path: string;
    sheet: string;
    /** .csv or .tsv file, */
    csv_path: string;
    /** e.g. 'A1:D20'. Default: the */
    range?: string;
    /** Apply number formats, as */
    formatted?: boolean;
    /** @default "comma" */
    delimiter?: "comma" | "semicolon" | "tab" | "pipe";
    /** 'utf-8-sig' adds a BOM, @default "utf-8" */
    encoding?: "utf-8" | "utf-8-sig" | "cp1252" | "utf-16";
    /** Prefix text starting with @default true */
    escape_formulas?: boolean;
    /** Replace an existing file */
    overwrite?: boolean;
  }

  /** Arguments of `excel:describe_sheet`. */
  interface DescribeSheetArgs {
    path: string;
    sheet: string;
  }

  /** Result of `excel:describe_sheet`. */
  interface DescribeSheetResult {
    used_range: string;
    freeze_panes?: string;
    auto_filter?: string;
    merged_ranges?: string[];
    notes?: DescribeSheetNoteInfo[];
    tables?: DescribeSheetTableInfo[];
    charts?: DescribeSheetChartInfo[];
    pivot_tables?: DescribeSheetPivotInfo[];
    slicers?: DescribeSheetSlicerInfo[];
    data_validations?: DescribeSheetDataValidationInfo[];
    conditional_formats?: DescribeSheetConditionalFormatInfo[];
    sparklines?: DescribeSheetSparklineInfo[];
    column_widths_chars?: DescribeSheetColumnWidth[];
    hidden_rows?: string[];
    hidden_columns?: string[];
    images?: DescribeSheetImageInfo[];
    hyperlinks?: DescribeSheetLinkInfo[];
    print_area?: string;
    protected?: boolean;
    /** @default {"zoom":100,"gridlines":true,"headings":true,"show_formulas":false,"right_to_left":false,"active":false,"selected_cell":"A1"} */
    view?: DescribeSheetViewInfo;
  }

  interface DescribeSheetNoteInfo {
    cell: string;
    text: string;
    author: string;
  }

  interface DescribeSheetTableInfo {
    name: string;
    range: string;
  }

  interface DescribeSheetChartInfo {
    name: string;
    type: string;
    title?: string;
    range?: string;
    series?: string[];
  }

  interface DescribeSheetPivotInfo {
    name: string;
    range: string;
    source?: string;
    date_groups?: string[];
  }

  interface DescribeSheetSlicerInfo {
    name: string;
    kind: string;
    caption: string;
    target: string;
    field: string;
    range?: string;
    selected_items?: string[];
    level?: string;
    start?: string;
    end?: string;
    style?: string;
  }

  interface DescribeSheetDataValidationInfo {
    range: string;
    type?: string;
    operator?: string;
    formula1?: string;
    formula2?: string;
  }

  interface DescribeSheetConditionalFormatInfo {
    range: string;
    type: string;
  }

  interface DescribeSheetSparklineInfo {
    /** @default "line" */
    type?: "line" | "column" | "win_loss";
    colors?: DescribeSheetSparklineColors;
    /** Points to color. markers: */
    show?: ("markers" | "high" | "low" | "first" | "last" | "negative")[];
    show_axis?: boolean;
    /** Vertical axis: each sparkline's @default "individual" */
    axis_min?: "individual" | "same" | number;
    /** Like axis_min. @default "individual" */
    axis_max?: "individual" | "same" | number;
    right_to_left?: boolean;
    /** One date per data */
    dates?: string;
    /** @default "gap" */
    empty_cells?: "gap" | "zero" | "connect";
    /** Plot hidden rows and */
    hidden?: boolean;
    /**
     * Line only.
     * @maximum 100
     * @default 0.75
     */
    line_width_pt?: number;
    /** Cell to the data */
    sparklines: { [key: string]: string };
  }

  interface DescribeSheetColumnWidth {
    column: string;
    width: number;
  }

  interface DescribeSheetImageInfo {
    name: string;
    range?: string;
    width_cm?: number;
    height_cm?: number;
  }

  interface DescribeSheetLinkInfo {
    cell: string;
    target: string;
    tooltip?: string;
  }

  interface DescribeSheetViewInfo {
    /** @integer @default 100 */
    zoom?: number;
    /** @default true */
    gridlines?: boolean;
    /** @default true */
    headings?: boolean;
    show_formulas?: boolean;
    right_to_left?: boolean;
    active?: boolean;
    /** @default "A1" */
    selected_cell?: string;
  }

  /** Hex RGB, e.g. '376092'. */
  interface DescribeSheetSparklineColors {
    /** @default "376092" */
    series?: string;
    /** @default "D00000" */
    negative?: string;
    /** @default "000000" */
    axis?: string;
    /** @default "D00000" */
    markers?: string;
    /** @default "D00000" */
    first?: string;
    /** @default "D00000" */
    last?: string;
    /** @default "D00000" */
    high?: string;
    /** @default "D00000" */
    low?: string;
  }

  /** Arguments of `excel:create_sheet`. */
  interface CreateSheetArgs {
    path: string;
    /** 1-31 characters, none of */
    new_name: string;
    /** 1-based. Default: last. @integer */
    position?: number;
  }

  /** Arguments of `excel:rename_sheet`. */
  interface RenameSheetArgs {
    path: string;
    sheet: string;
    /** 1-31 characters, none of */
    new_name: string;
  }

  /** Arguments of `excel:copy_sheet`. */
  interface CopySheetArgs {
    path: string;
    sheet: string;
    /** 1-31 characters, none of */
    new_name: string;
  }

  /** Arguments of `excel:delete_sheet`. */
  interface DeleteSheetArgs {
    path: string;
    sheet: string;
  }

  /** Arguments of `excel:insert_rows_or_columns`. */
  interface InsertRowsOrColumnsArgs {
    path: string;
    sheet: string;
    axis: "rows" | "columns";
    /** 1-based row, or column @integer */
    start: number;
    /**
     * @integer
     * @maximum 100000
     * @default 1
     */
    count?: number;
  }

  /** Arguments of `excel:delete_rows_or_columns`. */
  interface DeleteRowsOrColumnsArgs {
    path: string;
    sheet: string;
    axis: "rows" | "columns";
    /** 1-based row, or column @integer */
    start: number;
    /**
     * @integer
     * @maximum 100000
     * @default 1
     */
    count?: number;
  }

  /** Arguments of `excel:read_range`. */
  interface ReadRangeArgs {
    path: string;
    sheet: string;
    /** e.g. 'A1:D20', 'B:B', '2:3'. */
    range?: string;
    /** 'values': results; 'formulas': text. @default "values" */
    mode?: "values" | "formulas";
    /**
     * Page size in cells.
     * @integer
     * @default 2000
     */
    max_cells?: number;
  }

  /** Result of `excel:read_range`. */
  interface ReadRangeResult {
    range: string;
    values: (string | number | boolean | null)[][];
    next_range?: string;
    uncalculated?: { [key: string]: string };
  }

  /** Arguments of `excel:write_range`. */
  interface WriteRangeArgs {
    path: string;
    sheet: string;
    /** Top-left cell. */
    at: string;
    /** Rows of values, written */
    rows: (string | number | boolean | null)[][];
    /** Cells of the block */
    links?: WriteRangeLink[];
  }

  interface WriteRangeLink {
    /** A cell of the */
    cell: string;
    /** 'https://...', 'mailto:...', or in */
    target: string;
    tooltip?: string;
  }

  /** Arguments of `excel:clear_range`. */
  interface ClearRangeArgs {
    path: string;
    sheet: string;
    range: string;
    /** 'formats' includes conditional formats; @default "contents" */
    clear?: "contents" | "formats" | "rules" | "all";
  }

  /** Arguments of `excel:copy_range`. */
  interface CopyRangeArgs {
    path: string;
    sheet: string;
    range: string;
    /** Top-left destination cell. */
    at: string;
    /** Destination sheet. Default: `sheet`. */
    to_sheet?: string;
    /** Paste Special. Not 'all': @default "all" */
    paste?: "all" | "values" | "formulas" | "formats";
    transpose?: boolean;
    /** Keep destination cells under */
    skip_blanks?: boolean;
  }

  /** Arguments of `excel:sort_range`. */
  interface SortRangeArgs {
    path: string;
    sheet: string;
    range: string;
    /**
     * Columns to sort by,
     * @minItems 1
     * @maxItems 64
     */
    sort_by: SortRangeSortKey[];
    /** First row stays in @default true */
    has_header?: boolean;
  }

  interface SortRangeSortKey {
    /** Header text (if has_header) */
    column: string;
    /** @default "ascending" */
    order?: "ascending" | "descending";
  }

  /** Arguments of `excel:transform_range`. */
  interface TransformRangeArgs {
    path: string;
    sheet: string;
    range: string;
    transform: TransformRangeTransform;
  }

  interface TransformRangeTransform {
    /** remove_duplicates keeps the first */
    operation: "remove_duplicates" | "text_to_columns" | "fill";
    /** remove_duplicates: columns that must */
    columns?: string[];
    /** remove_duplicates. @default true */
    has_header?: boolean;
    /** text_to_columns: 'tab', 'semicolon', 'comma', */
    delimiters?: string[];
    /** text_to_columns, instead of delimiters: @items integer */
    fixed_widths_chars?: number[];
    /** text_to_columns: '' for none. @default "\"" */
    text_qualifier?: "\"" | "'" | "";
    /** text_to_columns: treat consecutive delimiters */
    merge_delimiters?: boolean;
    /** fill. */
    direction?: "down" | "right";
    /** fill: copy repeats the @default "copy" */
    series?: "copy" | "linear" | "growth" | "date";
    /** fill series: added (linear, @default 1 */
    step?: number;
    /** fill series: last value, */
    stop?: string | number;
    /** fill date series. @default "day" */
    unit?: "day" | "weekday" | "month" | "year";
  }

  /** Arguments of `excel:find_cells`. */
  interface FindCellsArgs {
    path: string;
    /** @minLength 1 */
    query: string;
    /** Default: all sheets. */
    sheet?: string;
    /** Match whole cells. */
    exact?: boolean;
    case_sensitive?: boolean;
    /** 'values': results; 'formulas': text. @default "values" */
    mode?: "values" | "formulas";
    /**
     * @integer
     * @maximum 1000
     * @default 100
     */
    max_results?: number;
  }

  /** Result of `excel:find_cells`. */
  interface FindCellsResult {
    matches: { [key: string]: { [key: string]: string | number | boolean | null } };
    truncated?: boolean;
  }

  /** Arguments of `excel:replace_cells`. */
  interface ReplaceCellsArgs {
    path: string;
    /** @minLength 1 */
    query: string;
    /** Text to put in */
    replacement: string;
    /** Default: all sheets. */
    sheet?: string;
    /** Match whole cells. */
    exact?: boolean;
    case_sensitive?: boolean;
    /** Also replace inside formula @default true */
    in_formulas?: boolean;
  }

  /** Arguments of `excel:trace_formula`. */
  interface TraceFormulaArgs {
    path: string;
    sheet: string;
    /** A cell; a range */
    range: string;
    /** 'precedents': what the formulas */
    direction: "precedents" | "dependents" | "evaluate";
    /** Follow to the end, */
    all_levels?: boolean;
  }

  /** Result of `excel:trace_formula`. */
  interface TraceFormulaResult {
    cells?: { [key: string]: string[] };
    unknown?: string[];
    steps?: TraceFormulaStep[];
    /** @integer @default 0 */
    more?: number;
  }

  interface TraceFormulaStep {
    expr: string;
    value: string;
  }

  /** Arguments of `excel:goal_seek`. */
  interface GoalSeekArgs {
    path: string;
    sheet: string;
    /** Formula cell to set. */
    cell: string;
    /** The value it should */
    target: number;
    /** Constant to change. */
    changing_cell: string;
  }

  /** Arguments of `excel:format_range`. */
  interface FormatRangeArgs {
    path: string;
    sheet: string;
    range: string;
    style: FormatRangeCellFormat;
  }

  interface FormatRangeCellFormat {
    bold?: boolean;
    italic?: boolean;
    underline?: boolean;
    strikethrough?: boolean;
    /** e.g. 'Calibri'. */
    font_name?: string;
    /** Points. @maximum 409 */
    font_size?: number;
    /** Hex, e.g. '#1F4E78'. */
    font_color?: string;
    /** Hex. */
    fill_color?: string;
    /** Excel code: '#,##0.00', '0%', */
    number_format?: string;
    horizontal_alignment?: "general" | "left" | "center" | "right" | "fill" | "justify";
    vertical_alignment?: "top" | "center" | "bottom" | "justify";
    wrap_text?: boolean;
    /** All four sides of */
    border_style?: "none" | "thin" | "medium" | "thick" | "double" | "dashed" | "dotted";
    /** Hex. Default: black. */
    border_color?: string;
    /** Default on: locked cells */
    locked?: boolean;
    /** Hide the formula on */
    formula_hidden?: boolean;
  }

  /** Arguments of `excel:merge_cells`. */
  interface MergeCellsArgs {
    path: string;
    sheet: string;
    range: string;
    /** Unmerge splits it again. @default "merge" */
    action?: "merge" | "unmerge";
  }

  /** Arguments of `excel:set_sheet_layout`. */
  interface SetSheetLayoutArgs {
    path: string;
    sheet: string;
    layout: SetSheetLayoutSheetLayout;
  }

  interface SetSheetLayoutSheetLayout {
    /** Column letter to width */
    column_widths_chars?: {
      /** @maximum 255 */
      [key: string]: number;
    };
    /** Row number to height */
    row_heights_pt?: {
      /** @maximum 409 */
      [key: string]: number;
    };
    /** Column letters sized to */
    autofit_columns?: string[];
    /** First unfrozen cell: 'A2' */
    freeze_panes?: string;
    /** Rows that fail the */
    auto_filter?: SetSheetLayoutAutoFilter;
    /** Hex. */
    tab_color?: string;
    rows?: SetSheetLayoutLineAction[];
    columns?: SetSheetLayoutLineAction[];
    /** One sheet must stay */
    visibility?: "visible" | "hidden";
    print_setup?: SetSheetLayoutPrintSetup;
    protection?: SetSheetLayoutProtection;
    /** 1-based tab position. @integer */
    position?: number;
    view?: SetSheetLayoutViewOptions;
  }

  interface SetSheetLayoutAutoFilter {
    /** Header row and data, */
    range: string;
    /** Criteria; they replace earlier */
    filters?: SetSheetLayoutFilterColumn[];
    /** Remove the filter and */
    remove?: boolean;
  }

  interface SetSheetLayoutLineAction {
    /** Rows '3' or '3:5'; */
    span: string;
    /** Group adds an outline */
    action: "hide" | "show" | "group" | "ungroup";
  }

  interface SetSheetLayoutPrintSetup {
    orientation?: "portrait" | "landscape";
    paper_size?: "letter" | "legal" | "tabloid" | "a3" | "a4" | "a5";
    /**
     * Percent; not with fit_to_pages.
     * @integer
     * @minimum 10
     * @maximum 400
     */
    scale?: number;
    fit_to_pages?: SetSheetLayoutFitToPages;
    margins_cm?: SetSheetLayoutMargins;
    /** e.g. 'A1:H40'; '' prints */
    print_area?: string;
    /** Rows to repeat, e.g. */
    title_rows?: string;
    /** Columns to repeat, e.g. */
    title_columns?: string;
    center_horizontally?: boolean;
    center_vertically?: boolean;
    gridlines?: boolean;
    /** Codes: &P page, &N */
    header?: SetSheetLayoutHeaderFooterText;
    footer?: SetSheetLayoutHeaderFooterText;
  }

  interface SetSheetLayoutProtection {
    /** False unprotects. */
    enabled: boolean;
    /** To set; to unprotect, @maxLength 255 */
    password?: string;
    /** Still allowed. @default ["select_locked_cells","select_unlocked_cells"] */
    allow?: (
      | "select_locked_cells"
      | "select_unlocked_cells"
      | "format_cells"
      | "format_columns"
      | "format_rows"
      | "insert_columns"
      | "insert_rows"
      | "insert_hyperlinks"
      | "delete_columns"
      | "delete_rows"
      | "sort"
      | "auto_filter"
      | "pivot_tables")[];
  }

  interface SetSheetLayoutViewOptions {
    /**
     * @integer
     * @minimum 10
     * @maximum 400
     */
    zoom?: number;
    gridlines?: boolean;
    /** Row and column labels. */
    headings?: boolean;
    show_formulas?: boolean;
    right_to_left?: boolean;
    /** Show this sheet when */
    active?: true;
    /** e.g. 'B2'. */
    selected_cell?: string;
  }

  interface SetSheetLayoutFilterColumn {
    /** Header text or column */
    column: string;
    type: "values" | "compare" | "top" | "bottom" | "above_average" | "below_average" | "color";
    /** values: to show; '' */
    values?: string[];
    /**
     * compare.
     * @minItems 1
     * @maxItems 2
     */
    conditions?: SetSheetLayoutFilterCondition[];
    /** compare: 2 conditions. @default "and" */
    combine?: "and" | "or";
    /**
     * top, bottom: items, or
     * @integer
     * @maximum 1000
     */
    count?: number;
    /** top, bottom. */
    percent?: boolean;
    /** color: fill color to */
    color?: string;
  }

  interface SetSheetLayoutFitToPages {
    /**
     * 0 = any number.
     * @integer
     * @maximum 100
     * @default 1
     */
    wide?: number;
    /**
     * 0 = any number.
     * @integer
     * @maximum 100
     * @default 1
     */
    tall?: number;
  }

  interface SetSheetLayoutMargins {
    /** @maximum 50 */
    left?: number;
    /** @maximum 50 */
    right?: number;
    /** @maximum 50 */
    top?: number;
    /** @maximum 50 */
    bottom?: number;
    /** @maximum 50 */
    header?: number;
    /** @maximum 50 */
    footer?: number;
  }

  /** '' clears a part. */
  interface SetSheetLayoutHeaderFooterText {
    left?: string;
    center?: string;
    right?: string;
  }

  interface SetSheetLayoutFilterCondition {
    operator:
      | "equals"
      | "not_equals"
      | "greater_than"
      | "greater_or_equal"
      | "less_than"
      | "less_or_equal"
      | "begins_with"
      | "not_begins_with"
      | "ends_with"
      | "not_ends_with"
      | "contains"
      | "not_contains";
    /** Text, number or date */
    value: string | number;
  }

  /** Arguments of `excel:add_conditional_format`. */
  interface AddConditionalFormatArgs {
    path: string;
    sheet: string;
    range: string;
    rule: AddConditionalFormatConditionalFormat;
  }

  /** Fields apply per `type`. */
  interface AddConditionalFormatConditionalFormat {
    /** top/bottom: `count` highest or */
    type:
      | "color_scale"
      | "data_bar"
      | "icon_set"
      | "cell_value"
      | "formula"
      | "top"
      | "bottom"
      | "above_average"
      | "below_average"
      | "duplicate"
      | "unique"
      | "contains_text"
      | "not_contains_text"
      | "begins_with"
      | "ends_with"
      | "date"
      | "blanks"
      | "no_blanks"
      | "errors"
      | "no_errors";
    /** color_scale: 2 or 3, */
    colors?: string[];
    /** cell_value. */
    operator?:
      | "between"
      | "notBetween"
      | "equal"
      | "notEqual"
      | "greaterThan"
      | "lessThan"
      | "greaterThanOrEqual"
      | "lessThanOrEqual";
    /** cell_value: 1, or 2 */
    values?: string[];
    /** formula: for the range's */
    formula?: string;
    /**
     * top, bottom (1-100 if
     * @integer
     * @maximum 1000
     */
    count?: number;
    /** top, bottom. */
    percent?: boolean;
    /**
     * above/below_average.
     * @integer
     * @maximum 3
     */
    std_dev?: number;
    /** above/below_average. */
    include_equal?: boolean;
    /** contains_text etc. @maxLength 255 */
    text?: string;
    /** date. */
    period?:
      | "yesterday"
      | "today"
      | "tomorrow"
      | "last7Days"
      | "lastWeek"
      | "thisWeek"
      | "nextWeek"
      | "lastMonth"
      | "thisMonth"
      | "nextMonth";
    /** icon_set. */
    icon_set?:
      | "3Arrows"
      | "3ArrowsGray"
      | "3Flags"
      | "3TrafficLights1"
      | "3TrafficLights2"
      | "3Signs"
      | "3Symbols"
      | "3Symbols2"
      | "4Arrows"
      | "4ArrowsGray"
      | "4RedToBlack"
      | "4Rating"
      | "4TrafficLights"
      | "5Arrows"
      | "5ArrowsGray"
      | "5Rating"
      | "5Quarters"
      | "3Stars"
      | "3Triangles"
      | "5Boxes";
    /** icon_set: where icons 2..n */
    thresholds?: number[];
    /** icon_set. @default "percent" */
    threshold_type?: "percent" | "number" | "percentile";
    /** icon_set: a custom icon */
    icons?: string[];
    /** icon_set. */
    reverse?: boolean;
    /** icon_set, data_bar. */
    hide_values?: boolean;
    /** data_bar. @default "gradient" */
    bar_fill?: "gradient" | "solid";
    /** data_bar. */
    border_color?: string;
    /** data_bar. Default: as `colors`. */
    negative_color?: string;
    /** data_bar. Default: border_color. */
    negative_border_color?: string;
    /** data_bar: where negative bars @default "none" */
    axis?: "automatic" | "middle" | "none";
    /** data_bar. */
    axis_color?: string;
    /** data_bar. @default "context" */
    bar_direction?: "context" | "left_to_right" | "right_to_left";
    /** data_bar: the shortest bar. @default "lowest" */
    min_type?: "automatic" | "lowest" | "highest" | "number" | "percent" | "percentile" | "formula";
    /** data_bar: for min_type number, */
    min_value?: number | string;
    /** data_bar: the longest bar. @default "highest" */
    max_type?: "automatic" | "lowest" | "highest" | "number" | "percent" | "percentile" | "formula";
    /** data_bar. */
    max_value?: number | string;
    /** Not for scales and */
    fill_color?: string;
    /** Like fill_color. */
    font_color?: string;
    /** Skip later rules if */
    stop_if_true?: boolean;
    /** 1 is first; rules @integer */
    priority?: number;
  }

  /** Arguments of `excel:add_data_validation`. */
  interface AddDataValidationArgs {
    path: string;
    sheet: string;
    range: string;
    rule: AddDataValidationDataValidationRule;
  }

  interface AddDataValidationDataValidationRule {
    type: "list" | "whole" | "decimal" | "date" | "time" | "text_length" | "custom";
    /** list: allowed values. */
    options?: string[];
    /** list, instead of options: */
    source?: string;
    /** Not for list and */
    operator?:
      | "between"
      | "notBetween"
      | "equal"
      | "notEqual"
      | "greaterThan"
      | "lessThan"
      | "greaterThanOrEqual"
      | "lessThanOrEqual";
    /** Number or formula; dates */
    minimum?: string;
    /** For between. */
    maximum?: string;
    /** custom: for the top-left */
    formula?: string;
    /** @default true */
    allow_blank?: boolean;
    /** Input message title. @maxLength 32 */
    prompt_title?: string;
    /** Input message. @maxLength 255 */
    prompt?: string;
    /** stop rejects bad input; @default "stop" */
    error_style?: "stop" | "warning" | "information";
    /** @maxLength 32 */
    error_title?: string;
    /** @maxLength 255 */
    error_message?: string;
  }

  /** Arguments of `excel:set_table`. */
  interface SetTableArgs {
    path: string;
    sheet: string;
    options?: SetTableTableOptions;
    /** Table name. Default for */
    name?: string;
    /** New table: the range */
    range?: string;
  }

  interface SetTableTableOptions {
    /** e.g. 'TableStyleMedium2' (Light1-21, Medium1-28, */
    style?: string;
    /** Off deletes the header */
    header_row?: boolean;
    /** Needs an empty row */
    totals_row?: boolean;
    striped_rows?: boolean;
    striped_columns?: boolean;
    first_column?: boolean;
    last_column?: boolean;
    filter_button?: boolean;
    /** By header text. */
    columns?: SetTableColumnOptions[];
  }

  interface SetTableColumnOptions {
    /** The column's header text. */
    name: string;
    /** Calculated column: formula for */
    formula?: string;
    /** Totals row cell: a */
    total?:
      | "none"
      | "sum"
      | "average"
      | "count"
      | "count_numbers"
      | "max"
      | "min"
      | "std_dev"
      | "var"
      | string;
    /** Totals row text instead */
    total_label?: string;
  }

  /** Arguments of `excel:create_chart`. */
  interface CreateChartArgs {
    path: string;
    sheet: string;
    /** Excel 2016 types (waterfall */
    chart_type:
      | "column"
      | "bar"
      | "line"
      | "area"
      | "pie"
      | "doughnut"
      | "radar"
      | "scatter"
      | "bubble"
      | "waterfall"
      | "histogram"
      | "pareto"
      | "box_whisker"
      | "treemap"
      | "sunburst"
      | "funnel";
    options?: CreateChartChartOptions;
    /** Top-left cell. Omit for */
    at?: string;
    /** Header row, labels in */
    source?: string;
    /** 'rows': one series per @default "columns" */
    series_in?: "columns" | "rows";
    /** Instead of `source`: any */
    series?: CreateChartSeriesSpec[];
    /** Labels for series without */
    categories?: string;
    /** Unique among the sheet's */
    name?: string;
    /** Name of a chart */
    replace?: string;
  }

  interface CreateChartChartOptions {
    title?: string;
    /**
     * Points. Default 14.
     * @integer
     * @minimum 6
     * @maximum 72
     */
    title_size?: number;
    /** @maximum 100 @default 15 */
    width_cm?: number;
    /** @maximum 100 @default 7.5 */
    height_cm?: number;
    /** Default: Excel's for the */
    legend?: "right" | "left" | "top" | "bottom" | "none";
    /** All series; a series' */
    data_labels?: CreateChartDataLabels;
    /** Stacked: column, bar, line, @default "standard" */
    grouping?: "standard" | "stacked" | "percent_stacked";
    /** Hex, per series or */
    colors?: string[];
    /** Line charts. */
    markers?: boolean;
    /** Line charts. */
    smooth?: boolean;
    /** @default "markers" */
    scatter_style?: "markers" | "lines_markers" | "lines" | "smooth_markers" | "smooth";
    /**
     * Excel 2007 chart style
     * @integer
     * @maximum 48
     */
    style?: number;
    /** Hex. */
    plot_color?: string;
    /** Category axis (no min, */
    x_axis?: CreateChartAxis;
    y_axis?: CreateChartAxis;
    /** For series with secondary_axis; */
    secondary_y_axis?: CreateChartAxis;
    /** Waterfall: 1-based positions of @items integer */
    totals?: number[];
    /** Waterfall. @default true */
    connector_lines?: boolean;
    /** Histogram, or pareto of */
    bins?: CreateChartBins;
    box?: CreateChartBoxPlot;
    /** Treemap group labels. @default "overlapping" */
    parent_labels?: "overlapping" | "banner" | "none";
  }

  interface CreateChartSeriesSpec {
    /** One row or column, */
    values: string;
    /** Text, or a sheet-qualified */
    name?: string;
    /** Default: the top-level `categories`. */
    categories?: string;
    /** Bubble charts. */
    sizes?: string;
    /** Draw it differently from */
    type?: "column" | "line" | "area";
    /** Use options.secondary_y_axis, a second */
    secondary_axis?: boolean;
    /** Hex, e.g. '#C00000': fill, */
    color?: string;
    /** @maximum 20 */
    line_width_pt?: number;
    marker?:
      | "circle"
      | "square"
      | "diamond"
      | "triangle"
      | "x"
      | "star"
      | "dash"
      | "dot"
      | "plus"
      | "none";
    /**
     * @integer
     * @minimum 2
     * @maximum 72
     */
    marker_size?: number;
    /** Overrides options.data_labels. */
    data_labels?: CreateChartDataLabels;
    trendline?: CreateChartTrendline;
    error_bars?: CreateChartErrorBars;
  }

  interface CreateChartDataLabels {
    /** 'percent': pie and doughnut @default ["value"] */
    show?: ("value" | "percent" | "category" | "series")[];
    /** Column, bar (not stacked: */
    position?:
      | "center"
      | "inside_end"
      | "inside_base"
      | "outside_end"
      | "above"
      | "below"
      | "left"
      | "right"
      | "best_fit";
    number_format?: string;
  }

  interface CreateChartAxis {
    title?: string;
    min?: number;
    max?: number;
    major_unit?: number;
    log?: boolean;
    reverse?: boolean;
    number_format?: string;
    /** Default: on for the */
    major_gridlines?: boolean;
    minor_gridlines?: boolean;
    /** Tick label position; to @default "next_to_axis" */
    labels?: "next_to_axis" | "low" | "high";
  }

  interface CreateChartBins {
    /** Values per bin. */
    width?: number;
    /** @integer @maximum 1000 */
    count?: number;
    /** One bin for values */
    underflow?: number;
    /** One bin for values */
    overflow?: number;
  }

  interface CreateChartBoxPlot {
    /** @default "exclusive" */
    quartiles?: "exclusive" | "inclusive";
    /** @default true */
    mean_marker?: boolean;
    mean_line?: boolean;
    inner_points?: boolean;
    /** @default true */
    outliers?: boolean;
  }

  interface CreateChartTrendline {
    type: "linear" | "exponential" | "logarithmic" | "polynomial" | "power" | "moving_average";
    /**
     * Polynomial. Default 2.
     * @integer
     * @minimum 2
     * @maximum 6
     */
    order?: number;
    /**
     * Moving average.
     * @integer
     * @minimum 2
     * @maximum 255
     */
    period?: number;
    equation?: boolean;
    r_squared?: boolean;
  }

  interface CreateChartErrorBars {
    kind: "fixed" | "percent" | "std_dev" | "std_error";
    /** Amount, percentage or standard */
    value?: number;
    /** @default "both" */
    direction?: "both" | "plus" | "minus";
    /** 'x': scatter and bubble. @default "y" */
    axis?: "y" | "x";
    /** @default true */
    end_cap?: boolean;
  }

  /** Arguments of `excel:delete_chart`. */
  interface DeleteChartArgs {
    path: string;
    sheet: string;
    /** Name from describe_sheet. */
    name: string;
  }

  /** Arguments of `excel:add_sparklines`. */
  interface AddSparklinesArgs {
    path: string;
    sheet: string;
    /** One row or column, */
    range: string;
    /** Data, e.g. 'Data!B2:F9': a */
    source: string;
    style?: AddSparklinesSparklineStyle;
  }

  interface AddSparklinesSparklineStyle {
    /** @default "line" */
    type?: "line" | "column" | "win_loss";
    colors?: AddSparklinesSparklineColors;
    /** Points to color. markers: */
    show?: ("markers" | "high" | "low" | "first" | "last" | "negative")[];
    show_axis?: boolean;
    /** Vertical axis: each sparkline's @default "individual" */
    axis_min?: "individual" | "same" | number;
    /** Like axis_min. @default "individual" */
    axis_max?: "individual" | "same" | number;
    right_to_left?: boolean;
    /** One date per data */
    dates?: string;
    /** @default "gap" */
    empty_cells?: "gap" | "zero" | "connect";
    /** Plot hidden rows and */
    hidden?: boolean;
    /**
     * Line only.
     * @maximum 100
     * @default 0.75
     */
    line_width_pt?: number;
  }

  /** Hex RGB, e.g. '376092'. */
  interface AddSparklinesSparklineColors {
    /** @default "376092" */
    series?: string;
    /** @default "D00000" */
    negative?: string;
    /** @default "000000" */
    axis?: string;
    /** @default "D00000" */
    markers?: string;
    /** @default "D00000" */
    first?: string;
    /** @default "D00000" */
    last?: string;
    /** @default "D00000" */
    high?: string;
    /** @default "D00000" */
    low?: string;
  }

  /** Arguments of `excel:delete_sparklines`. */
  interface DeleteSparklinesArgs {
    path: string;
    sheet: string;
    range: string;
  }

  /** Arguments of `excel:create_pivot_table`. */
  interface CreatePivotTableArgs {
    path: string;
    /** Sheet for the PivotTable. */
    sheet: string;
    /** Top-left cell; the area */
    at: string;
    /** Header row of unique */
    source: string;
    /**
     * Headers to group by
     * @minItems 1
     * @maxItems 64
     */
    row_fields: string[];
    /**
     * Headers to summarize.
     * @minItems 1
     * @maxItems 64
     */
    value_fields: CreatePivotTablePivotValue[];
    /** Headers across the top, @maxItems 64 */
    column_fields?: string[];
    /** Headers as page filters. @maxItems 64 */
    filter_fields?: string[];
    /** Items to show, sort @maxItems 64 */
    field_settings?: CreatePivotTablePivotField[];
    /** Usable in value_fields. @maxItems 64 */
    calculated_fields?: CreatePivotTableCalculatedField[];
    /** Row label layout. @default "tabular" */
    layout?: "compact" | "outline" | "tabular";
    /** Of outer fields. @default true */
    subtotals?: boolean;
    /** Where several value fields @default "columns" */
    values_in?: "columns" | "rows";
    /** PivotTable name. Default: PivotTableN. */
    name?: string;
  }

  interface CreatePivotTablePivotValue {
    /** Column header or calculated */
    field: string;
    /** 'count' counts non-empty cells; @default "sum" */
    function?: "sum" | "count" | "average" | "min" | "max";
    /** Excel code. Default: the @maxLength 255 */
    number_format?: string;
    /** 'Show Values As'. Needs */
    show_as?:
      | "percent_of_total"
      | "percent_of_row"
      | "percent_of_column"
      | "percent_of_parent_row"
      | "percent_of_parent_column"
      | "percent_of_parent"
      | "difference_from"
      | "percent_difference_from"
      | "percent_of"
      | "running_total"
      | "percent_running_total"
      | "rank_ascending"
      | "rank_descending";
    /** Row or column field */
    base_field?: string;
    /** difference_from, percent_difference_from, percent_of: item */
    base_item?: string;
  }

  interface CreatePivotTablePivotField {
    /** A header used in */
    field: string;
    /** Show only these items. */
    show_items?: string[];
    /** @default "ascending" */
    sort?: "ascending" | "descending";
    /** Sort by this value */
    sort_by?: string;
    /** Group a date field, */
    group_dates?: ("years" | "quarters" | "months" | "days")[];
    /** Group numbers into ranges. */
    group_numbers?: CreatePivotTableNumberGroup;
  }

  interface CreatePivotTableCalculatedField {
    /** e.g. 'Revenue'. */
    name: string;
    /** Over source field names @maxLength 8192 */
    formula: string;
  }

  interface CreatePivotTableNumberGroup {
    /** Size of each range. */
    by: number;
    /** Default: the smallest value. */
    start?: number;
    /** Default: the largest value. */
    end?: number;
  }

  /** Arguments of `excel:delete_pivot_table`. */
  interface DeletePivotTableArgs {
    path: string;
    sheet: string;
    /** Name from describe_sheet. */
    name: string;
  }

  /** Arguments of `excel:add_slicer`. */
  interface AddSlicerArgs {
    path: string;
    /** Sheet for the slicer. */
    sheet: string;
    /** Table or PivotTable to */
    target: AddSlicerSource;
    /** Column header or field, */
    field: string;
    at: string;
    /** Default: 5.1 (timeline: 9.3). @maximum 100 */
    width_cm?: number;
    /** Default: 7.4 (timeline: 3.8). @maximum 100 */
    height_cm?: number;
    /** Default: the field. */
    caption?: string;
    /** Default: the field name. */
    name?: string;
    /**
     * Button columns.
     * @integer
     * @maximum 20
     * @default 1
     */
    columns?: number;
    /**
     * e.g. SlicerStyleDark2, TimeSlicerStyleLight1 (timeline).
     * @pattern ^(Time)?SlicerStyle(Light|Dark|Other)\d$
     */
    style?: string;
    /** Items to show. Default: @maxItems 10000 */
    selected_items?: string[];
    /** Item order. @default "ascending" */
    sort?: "ascending" | "descending";
    /** Hide items without data. */
    hide_empty_items?: boolean;
    /** More PivotTables sharing the @maxItems 50 */
    connect?: AddSlicerSource[];
    /** Make a timeline instead, */
    timeline?: AddSlicerTimeline;
  }

  interface AddSlicerSource {
    /** Sheet it is on. */
    sheet: string;
    /** Table or PivotTable name. */
    name: string;
  }

  interface AddSlicerTimeline {
    /** @default "months" */
    level?: "years" | "quarters" | "months" | "days";
    /** First day shown, '2025-03-01'. @format date */
    start?: string;
    /** Last day shown. @format date */
    end?: string;
  }

  /** Arguments of `excel:delete_slicer`. */
  interface DeleteSlicerArgs {
    path: string;
    sheet: string;
    /** Name from describe_sheet. */
    name: string;
  }

  /** Arguments of `excel:set_defined_name`. */
  interface SetDefinedNameArgs {
    path: string;
    /** Letters, digits, underscores and */
    name: string;
    /** Range with sheet, 'Data!$B$2:$B$100', */
    refers_to: string;
    /** Scope sheet. Default: the */
    sheet?: string;
  }

  /** Arguments of `excel:delete_defined_name`. */
  interface DeleteDefinedNameArgs {
    path: string;
    /** Letters, digits, underscores and */
    name: string;
    /** Scope sheet. Default: the */
    sheet?: string;
  }

  /** Arguments of `excel:set_note`. */
  interface SetNoteArgs {
    path: string;
    sheet: string;
    cell: string;
    /** @minLength 1 */
    text: string;
    /** @default "Claude" */
    author?: string;
  }

  /** Arguments of `excel:delete_note`. */
  interface DeleteNoteArgs {
    path: string;
    sheet: string;
    cell: string;
  }

  /** Arguments of `excel:insert_image`. */
  interface InsertImageArgs {
    path: string;
    sheet: string;
    /** PNG or JPEG in */
    image_path: string;
    at: string;
    /** Default: natural size. @maximum 100 */
    width_cm?: number;
    /** Alone, the ratio is @maximum 100 */
    height_cm?: number;
    /** Unique among the sheet's */
    name?: string;
  }

  /** Arguments of `excel:delete_image`. */
  interface DeleteImageArgs {
    path: string;
    sheet: string;
    /** Name from describe_sheet. */
    name: string;
  }

  /** Arguments of `excel:read_vba`. */
  interface ReadVbaArgs {
    path: string;
    /** e.g. 'Module1'. Default: all. */
    module?: string;
    /**
     * Characters of code to
     * @integer
     * @maximum 200000
     * @default 20000
     */
    max_chars?: number;
  }

  /** Result of `excel:read_vba`. */
  interface ReadVbaResult {
    modules: ReadVbaVbaModule[];
    truncated: boolean;
  }

  interface ReadVbaVbaModule {
    name: string;
    kind: "standard" | "class" | "document" | "form";
    /** @integer */
    line_count: number;
    code: string;
  }
}
