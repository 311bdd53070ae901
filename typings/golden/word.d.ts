// Types of the tools of this configuration. Made by `pml types`: do not edit, run it again.
//
// Beside your scripts, a tsconfig.json that extends pml's and includes this file gives them to an
// editor and to `tsc`.

interface ToolServers {
  /** 54 tools. */
  readonly word: PmlTools.Word.Tools;
}

interface KnownTools {
  "word:create_document": { args: [args: PmlTools.Word.CreateDocumentArgs]; result: any };
  "word:copy_document": { args: [args: PmlTools.Word.CopyDocumentArgs]; result: any };
  "word:get_document_info": { args: [args: PmlTools.Word.GetDocumentInfoArgs]; result: any };
  "word:get_document_text": { args: [args: PmlTools.Word.GetDocumentTextArgs]; result: any };
  "word:get_document_outline": { args: [args: PmlTools.Word.GetDocumentOutlineArgs]; result: any };
  "word:list_available_documents": { args: [args?: PmlTools.Word.ListAvailableDocumentsArgs | null]; result: any };
  "word:get_document_xml": { args: [args: PmlTools.Word.GetDocumentXmlArgs]; result: any };
  "word:insert_header_near_text": { args: [args: PmlTools.Word.InsertHeaderNearTextArgs]; result: any };
  "word:insert_line_or_paragraph_near_text": { args: [args: PmlTools.Word.InsertLineOrParagraphNearTextArgs]; result: any };
  "word:insert_numbered_list_near_text": { args: [args: PmlTools.Word.InsertNumberedListNearTextArgs]; result: any };
  "word:add_paragraph": { args: [args: PmlTools.Word.AddParagraphArgs]; result: any };
  "word:add_heading": { args: [args: PmlTools.Word.AddHeadingArgs]; result: any };
  "word:add_picture": { args: [args: PmlTools.Word.AddPictureArgs]; result: any };
  "word:add_table": { args: [args: PmlTools.Word.AddTableArgs]; result: any };
  "word:add_page_break": { args: [args: PmlTools.Word.AddPageBreakArgs]; result: any };
  "word:delete_paragraph": { args: [args: PmlTools.Word.DeleteParagraphArgs]; result: any };
  "word:search_and_replace": { args: [args: PmlTools.Word.SearchAndReplaceArgs]; result: any };
  "word:create_custom_style": { args: [args: PmlTools.Word.CreateCustomStyleArgs]; result: any };
  "word:format_text": { args: [args: PmlTools.Word.FormatTextArgs]; result: any };
  "word:format_table": { args: [args: PmlTools.Word.FormatTableArgs]; result: any };
  "word:set_table_cell_shading": { args: [args: PmlTools.Word.SetTableCellShadingArgs]; result: any };
  "word:apply_table_alternating_rows": { args: [args: PmlTools.Word.ApplyTableAlternatingRowsArgs]; result: any };
  "word:highlight_table_header": { args: [args: PmlTools.Word.HighlightTableHeaderArgs]; result: any };
  "word:merge_table_cells": { args: [args: PmlTools.Word.MergeTableCellsArgs]; result: any };
  "word:merge_table_cells_horizontal": { args: [args: PmlTools.Word.MergeTableCellsHorizontalArgs]; result: any };
  "word:merge_table_cells_vertical": { args: [args: PmlTools.Word.MergeTableCellsVerticalArgs]; result: any };
  "word:set_table_cell_alignment": { args: [args: PmlTools.Word.SetTableCellAlignmentArgs]; result: any };
  "word:set_table_alignment_all": { args: [args: PmlTools.Word.SetTableAlignmentAllArgs]; result: any };
  "word:protect_document": { args: [args: PmlTools.Word.ProtectDocumentArgs]; result: any };
  "word:unprotect_document": { args: [args: PmlTools.Word.UnprotectDocumentArgs]; result: any };
  "word:add_footnote_to_document": { args: [args: PmlTools.Word.AddFootnoteToDocumentArgs]; result: any };
  "word:add_footnote_after_text": { args: [args: PmlTools.Word.AddFootnoteAfterTextArgs]; result: any };
  "word:add_footnote_before_text": { args: [args: PmlTools.Word.AddFootnoteBeforeTextArgs]; result: any };
  "word:add_footnote_enhanced": { args: [args: PmlTools.Word.AddFootnoteEnhancedArgs]; result: any };
  "word:add_endnote_to_document": { args: [args: PmlTools.Word.AddEndnoteToDocumentArgs]; result: any };
  "word:customize_footnote_style": { args: [args: PmlTools.Word.CustomizeFootnoteStyleArgs]; result: any };
  "word:delete_footnote_from_document": { args: [args: PmlTools.Word.DeleteFootnoteFromDocumentArgs]; result: any };
  "word:add_footnote_robust": { args: [args: PmlTools.Word.AddFootnoteRobustArgs]; result: any };
  "word:validate_document_footnotes": { args: [args: PmlTools.Word.ValidateDocumentFootnotesArgs]; result: any };
  "word:delete_footnote_robust": { args: [args: PmlTools.Word.DeleteFootnoteRobustArgs]; result: any };
  "word:get_paragraph_text_from_document": { args: [args: PmlTools.Word.GetParagraphTextFromDocumentArgs]; result: any };
  "word:find_text_in_document": { args: [args: PmlTools.Word.FindTextInDocumentArgs]; result: any };
  "word:convert_to_pdf": { args: [args: PmlTools.Word.ConvertToPdfArgs]; result: any };
  "word:replace_paragraph_block_below_header": { args: [args: PmlTools.Word.ReplaceParagraphBlockBelowHeaderArgs]; result: any };
  "word:replace_block_between_manual_anchors": { args: [args: PmlTools.Word.ReplaceBlockBetweenManualAnchorsArgs]; result: any };
  "word:get_all_comments": { args: [args: PmlTools.Word.GetAllCommentsArgs]; result: any };
  "word:get_comments_by_author": { args: [args: PmlTools.Word.GetCommentsByAuthorArgs]; result: any };
  "word:get_comments_for_paragraph": { args: [args: PmlTools.Word.GetCommentsForParagraphArgs]; result: any };
  "word:set_table_column_width": { args: [args: PmlTools.Word.SetTableColumnWidthArgs]; result: any };
  "word:set_table_column_widths": { args: [args: PmlTools.Word.SetTableColumnWidthsArgs]; result: any };
  "word:set_table_width": { args: [args: PmlTools.Word.SetTableWidthArgs]; result: any };
  "word:auto_fit_table_columns": { args: [args: PmlTools.Word.AutoFitTableColumnsArgs]; result: any };
  "word:format_table_cell_text": { args: [args: PmlTools.Word.FormatTableCellTextArgs]; result: any };
  "word:set_table_cell_padding": { args: [args: PmlTools.Word.SetTableCellPaddingArgs]; result: any };
}

declare namespace PmlTools.Word {
  interface Tools {
    /** Create a new Word */
    create_document<T = unknown>(args: CreateDocumentArgs): Promise<T>;
    /** Create a copy of */
    copy_document<T = unknown>(args: CopyDocumentArgs): Promise<T>;
    /** Get information about a */
    get_document_info<T = unknown>(args: GetDocumentInfoArgs): Promise<T>;
    /** Extract all text from */
    get_document_text<T = unknown>(args: GetDocumentTextArgs): Promise<T>;
    /** Get the structure of */
    get_document_outline<T = unknown>(args: GetDocumentOutlineArgs): Promise<T>;
    /** List all .docx files */
    list_available_documents<T = unknown>(args?: ListAvailableDocumentsArgs | null): Promise<T>;
    /** Get the raw XML */
    get_document_xml<T = unknown>(args: GetDocumentXmlArgs): Promise<T>;
    /** Insert a header (with */
    insert_header_near_text<T = unknown>(args: InsertHeaderNearTextArgs): Promise<T>;
    /** Insert a new line */
    insert_line_or_paragraph_near_text<T = unknown>(args: InsertLineOrParagraphNearTextArgs): Promise<T>;
    /** Insert a bulleted or */
    insert_numbered_list_near_text<T = unknown>(args: InsertNumberedListNearTextArgs): Promise<T>;
    /** Add a paragraph to */
    add_paragraph<T = unknown>(args: AddParagraphArgs): Promise<T>;
    /** Add a heading to */
    add_heading<T = unknown>(args: AddHeadingArgs): Promise<T>;
    /** Add an image to */
    add_picture<T = unknown>(args: AddPictureArgs): Promise<T>;
    /** Add a table to */
    add_table<T = unknown>(args: AddTableArgs): Promise<T>;
    /** Add a page break */
    add_page_break<T = unknown>(args: AddPageBreakArgs): Promise<T>;
    /** Delete a paragraph from */
    delete_paragraph<T = unknown>(args: DeleteParagraphArgs): Promise<T>;
    /** Search for text and */
    search_and_replace<T = unknown>(args: SearchAndReplaceArgs): Promise<T>;
    /** Create a custom style */
    create_custom_style<T = unknown>(args: CreateCustomStyleArgs): Promise<T>;
    /** Format a specific range */
    format_text<T = unknown>(args: FormatTextArgs): Promise<T>;
    /** Format a table with */
    format_table<T = unknown>(args: FormatTableArgs): Promise<T>;
    /** Apply shading/filling to a */
    set_table_cell_shading<T = unknown>(args: SetTableCellShadingArgs): Promise<T>;
    /** Apply alternating row colors */
    apply_table_alternating_rows<T = unknown>(args: ApplyTableAlternatingRowsArgs): Promise<T>;
    /** Apply special highlighting to */
    highlight_table_header<T = unknown>(args: HighlightTableHeaderArgs): Promise<T>;
    /** Merge cells in a */
    merge_table_cells<T = unknown>(args: MergeTableCellsArgs): Promise<T>;
    /** Merge cells horizontally in */
    merge_table_cells_horizontal<T = unknown>(args: MergeTableCellsHorizontalArgs): Promise<T>;
    /** Merge cells vertically in */
    merge_table_cells_vertical<T = unknown>(args: MergeTableCellsVerticalArgs): Promise<T>;
    /** Set text alignment for */
    set_table_cell_alignment<T = unknown>(args: SetTableCellAlignmentArgs): Promise<T>;
    /** Set text alignment for */
    set_table_alignment_all<T = unknown>(args: SetTableAlignmentAllArgs): Promise<T>;
    /** Add password protection to */
    protect_document<T = unknown>(args: ProtectDocumentArgs): Promise<T>;
    /** Remove password protection from */
    unprotect_document<T = unknown>(args: UnprotectDocumentArgs): Promise<T>;
    /** Add a footnote to */
    add_footnote_to_document<T = unknown>(args: AddFootnoteToDocumentArgs): Promise<T>;
    /** Add a footnote after */
    add_footnote_after_text<T = unknown>(args: AddFootnoteAfterTextArgs): Promise<T>;
    /** Add a footnote before */
    add_footnote_before_text<T = unknown>(args: AddFootnoteBeforeTextArgs): Promise<T>;
    /** Enhanced footnote addition with */
    add_footnote_enhanced<T = unknown>(args: AddFootnoteEnhancedArgs): Promise<T>;
    /** Add an endnote to */
    add_endnote_to_document<T = unknown>(args: AddEndnoteToDocumentArgs): Promise<T>;
    /** Customize footnote numbering and */
    customize_footnote_style<T = unknown>(args: CustomizeFootnoteStyleArgs): Promise<T>;
    /** Delete a footnote from */
    delete_footnote_from_document<T = unknown>(args: DeleteFootnoteFromDocumentArgs): Promise<T>;
    /** Add footnote with robust */
    add_footnote_robust<T = unknown>(args: AddFootnoteRobustArgs): Promise<T>;
    /** Validate all footnotes in */
    validate_document_footnotes<T = unknown>(args: ValidateDocumentFootnotesArgs): Promise<T>;
    /** Delete footnote with comprehensive */
    delete_footnote_robust<T = unknown>(args: DeleteFootnoteRobustArgs): Promise<T>;
    /** Get text from a */
    get_paragraph_text_from_document<T = unknown>(args: GetParagraphTextFromDocumentArgs): Promise<T>;
    /** Find occurrences of specific */
    find_text_in_document<T = unknown>(args: FindTextInDocumentArgs): Promise<T>;
    /** Convert a Word document */
    convert_to_pdf<T = unknown>(args: ConvertToPdfArgs): Promise<T>;
    /** Reemplaza el bloque de */
    replace_paragraph_block_below_header<T = unknown>(args: ReplaceParagraphBlockBelowHeaderArgs): Promise<T>;
    /** Replace all content between */
    replace_block_between_manual_anchors<T = unknown>(args: ReplaceBlockBetweenManualAnchorsArgs): Promise<T>;
    /** Extract all comments from */
    get_all_comments<T = unknown>(args: GetAllCommentsArgs): Promise<T>;
    /** Extract comments from a */
    get_comments_by_author<T = unknown>(args: GetCommentsByAuthorArgs): Promise<T>;
    /** Extract comments for a */
    get_comments_for_paragraph<T = unknown>(args: GetCommentsForParagraphArgs): Promise<T>;
    /** Set the width of */
    set_table_column_width<T = unknown>(args: SetTableColumnWidthArgs): Promise<T>;
    /** Set the widths of */
    set_table_column_widths<T = unknown>(args: SetTableColumnWidthsArgs): Promise<T>;
    /** Set the overall width */
    set_table_width<T = unknown>(args: SetTableWidthArgs): Promise<T>;
    /** Set table columns to */
    auto_fit_table_columns<T = unknown>(args: AutoFitTableColumnsArgs): Promise<T>;
    /** Format text within a */
    format_table_cell_text<T = unknown>(args: FormatTableCellTextArgs): Promise<T>;
    /** Set padding/margins for a */
    set_table_cell_padding<T = unknown>(args: SetTableCellPaddingArgs): Promise<T>;
  }

  /** Arguments of `word:create_document`. */
  interface CreateDocumentArgs {
    filename: string;
    /** @default null */
    title?: string;
    /** @default null */
    author?: string;
  }

  /** Arguments of `word:copy_document`. */
  interface CopyDocumentArgs {
    source_filename: string;
    /** @default null */
    destination_filename?: string;
  }

  /** Arguments of `word:get_document_info`. */
  interface GetDocumentInfoArgs {
    filename: string;
  }

  /** Arguments of `word:get_document_text`. */
  interface GetDocumentTextArgs {
    filename: string;
  }

  /** Arguments of `word:get_document_outline`. */
  interface GetDocumentOutlineArgs {
    filename: string;
  }

  /** Arguments of `word:list_available_documents`. */
  interface ListAvailableDocumentsArgs {
    /** @default "." */
    directory?: string;
  }

  /** Arguments of `word:get_document_xml`. */
  interface GetDocumentXmlArgs {
    filename: string;
  }

  /** Arguments of `word:insert_header_near_text`. */
  interface InsertHeaderNearTextArgs {
    filename: string;
    /** @default null */
    target_text?: string;
    /** @default null */
    header_title?: string;
    /** @default "after" */
    position?: string;
    /** @default "Heading 1" */
    header_style?: string;
    /** @integer @default null */
    target_paragraph_index?: number;
  }

  /** Arguments of `word:insert_line_or_paragraph_near_text`. */
  interface InsertLineOrParagraphNearTextArgs {
    filename: string;
    /** @default null */
    target_text?: string;
    /** @default null */
    line_text?: string;
    /** @default "after" */
    position?: string;
    /** @default null */
    line_style?: string;
    /** @integer @default null */
    target_paragraph_index?: number;
  }

  /** Arguments of `word:insert_numbered_list_near_text`. */
  interface InsertNumberedListNearTextArgs {
    filename: string;
    /** @default null */
    target_text?: string;
    /** @default null */
    list_items?: string[];
    /** @default "after" */
    position?: string;
    /** @integer @default null */
    target_paragraph_index?: number;
    /** @default "bullet" */
    bullet_type?: string;
  }

  /** Arguments of `word:add_paragraph`. */
  interface AddParagraphArgs {
    /** Path to Word document */
    filename: string;
    /** Paragraph text content */
    text: string;
    /** Optional paragraph style name @default null */
    style?: string;
    /** Font family (e.g., 'Helvetica', @default null */
    font_name?: string;
    /**
     * Font size in points
     * @integer
     * @default null
     */
    font_size?: number;
    /** Make text bold @default null */
    bold?: boolean;
    /** Make text italic @default null */
    italic?: boolean;
    /** Text color as hex @default null */
    color?: string;
  }

  /** Arguments of `word:add_heading`. */
  interface AddHeadingArgs {
    /** Path to Word document */
    filename: string;
    /** Heading text */
    text: string;
    /**
     * Heading level (1-9)
     * @integer
     * @default 1
     */
    level?: number;
    /** Font family (e.g., 'Helvetica') @default null */
    font_name?: string;
    /**
     * Font size in points
     * @integer
     * @default null
     */
    font_size?: number;
    /** Make heading bold @default null */
    bold?: boolean;
    /** Make heading italic @default null */
    italic?: boolean;
    /** Add bottom border (for @default false */
    border_bottom?: boolean;
  }

  /** Arguments of `word:add_picture`. */
  interface AddPictureArgs {
    filename: string;
    image_path: string;
    /** @default null */
    width?: number;
  }

  /** Arguments of `word:add_table`. */
  interface AddTableArgs {
    filename: string;
    /** @integer */
    rows: number;
    /** @integer */
    cols: number;
    /** @default null */
    data?: string[][];
  }

  /** Arguments of `word:add_page_break`. */
  interface AddPageBreakArgs {
    filename: string;
  }

  /** Arguments of `word:delete_paragraph`. */
  interface DeleteParagraphArgs {
    filename: string;
    /** @integer */
    paragraph_index: number;
  }

  /** Arguments of `word:search_and_replace`. */
  interface SearchAndReplaceArgs {
    filename: string;
    find_text: string;
    replace_text: string;
  }

  /** Arguments of `word:create_custom_style`. */
  interface CreateCustomStyleArgs {
    filename: string;
    style_name: string;
    /** @default null */
    bold?: boolean;
    /** @default null */
    italic?: boolean;
    /** @integer @default null */
    font_size?: number;
    /** @default null */
    font_name?: string;
    /** @default null */
    color?: string;
    /** @default null */
    base_style?: string;
  }

  /** Arguments of `word:format_text`. */
  interface FormatTextArgs {
    filename: string;
    /** @integer */
    paragraph_index: number;
    /** @integer */
    start_pos: number;
    /** @integer */
    end_pos: number;
    /** @default null */
    bold?: boolean;
    /** @default null */
    italic?: boolean;
    /** @default null */
    underline?: boolean;
    /** @default null */
    color?: string;
    /** @integer @default null */
    font_size?: number;
    /** @default null */
    font_name?: string;
  }

  /** Arguments of `word:format_table`. */
  interface FormatTableArgs {
    filename: string;
    /** @integer */
    table_index: number;
    /** @default null */
    has_header_row?: boolean;
    /** @default null */
    border_style?: string;
    /** @default null */
    shading?: string[];
  }

  /** Arguments of `word:set_table_cell_shading`. */
  interface SetTableCellShadingArgs {
    filename: string;
    /** @integer */
    table_index: number;
    /** @integer */
    row_index: number;
    /** @integer */
    col_index: number;
    fill_color: string;
    /** @default "clear" */
    pattern?: string;
  }

  /** Arguments of `word:apply_table_alternating_rows`. */
  interface ApplyTableAlternatingRowsArgs {
    filename: string;
    /** @integer */
    table_index: number;
    /** @default "FFFFFF" */
    color1?: string;
    /** @default "F2F2F2" */
    color2?: string;
  }

  /** Arguments of `word:highlight_table_header`. */
  interface HighlightTableHeaderArgs {
    filename: string;
    /** @integer */
    table_index: number;
    /** @default "4472C4" */
    header_color?: string;
    /** @default "FFFFFF" */
    text_color?: string;
  }

  /** Arguments of `word:merge_table_cells`. */
  interface MergeTableCellsArgs {
    filename: string;
    /** @integer */
    table_index: number;
    /** @integer */
    start_row: number;
    /** @integer */
    start_col: number;
    /** @integer */
    end_row: number;
    /** @integer */
    end_col: number;
  }

  /** Arguments of `word:merge_table_cells_horizontal`. */
  interface MergeTableCellsHorizontalArgs {
    filename: string;
    /** @integer */
    table_index: number;
    /** @integer */
    row_index: number;
    /** @integer */
    start_col: number;
    /** @integer */
    end_col: number;
  }

  /** Arguments of `word:merge_table_cells_vertical`. */
  interface MergeTableCellsVerticalArgs {
    filename: string;
    /** @integer */
    table_index: number;
    /** @integer */
    col_index: number;
    /** @integer */
    start_row: number;
    /** @integer */
    end_row: number;
  }

  /** Arguments of `word:set_table_cell_alignment`. */
  interface SetTableCellAlignmentArgs {
    filename: string;
    /** @integer */
    table_index: number;
    /** @integer */
    row_index: number;
    /** @integer */
    col_index: number;
    /** @default "left" */
    horizontal?: string;
    /** @default "top" */
    vertical?: string;
  }

  /** Arguments of `word:set_table_alignment_all`. */
  interface SetTableAlignmentAllArgs {
    filename: string;
    /** @integer */
    table_index: number;
    /** @default "left" */
    horizontal?: string;
    /** @default "top" */
    vertical?: string;
  }

  /** Arguments of `word:protect_document`. */
  interface ProtectDocumentArgs {
    filename: string;
    password: string;
  }

  /** Arguments of `word:unprotect_document`. */
  interface UnprotectDocumentArgs {
    filename: string;
    password: string;
  }

  /** Arguments of `word:add_footnote_to_document`. */
  interface AddFootnoteToDocumentArgs {
    filename: string;
    /** @integer */
    paragraph_index: number;
    footnote_text: string;
  }

  /** Arguments of `word:add_footnote_after_text`. */
  interface AddFootnoteAfterTextArgs {
    filename: string;
    search_text: string;
    footnote_text: string;
    /** @default null */
    output_filename?: string;
  }

  /** Arguments of `word:add_footnote_before_text`. */
  interface AddFootnoteBeforeTextArgs {
    filename: string;
    search_text: string;
    footnote_text: string;
    /** @default null */
    output_filename?: string;
  }

  /** Arguments of `word:add_footnote_enhanced`. */
  interface AddFootnoteEnhancedArgs {
    filename: string;
    /** @integer */
    paragraph_index: number;
    footnote_text: string;
    /** @default null */
    output_filename?: string;
  }

  /** Arguments of `word:add_endnote_to_document`. */
  interface AddEndnoteToDocumentArgs {
    filename: string;
    /** @integer */
    paragraph_index: number;
    endnote_text: string;
  }

  /** Arguments of `word:customize_footnote_style`. */
  interface CustomizeFootnoteStyleArgs {
    filename: string;
    /** @default "1, 2, 3" */
    numbering_format?: string;
    /** @integer @default 1 */
    start_number?: number;
    /** @default null */
    font_name?: string;
    /** @integer @default null */
    font_size?: number;
  }

  /** Arguments of `word:delete_footnote_from_document`. */
  interface DeleteFootnoteFromDocumentArgs {
    filename: string;
    /** @integer @default null */
    footnote_id?: number;
    /** @default null */
    search_text?: string;
    /** @default null */
    output_filename?: string;
  }

  /** Arguments of `word:add_footnote_robust`. */
  interface AddFootnoteRobustArgs {
    filename: string;
    /** @default null */
    search_text?: string;
    /** @integer @default null */
    paragraph_index?: number;
    /** @default "" */
    footnote_text?: string;
    /** @default true */
    validate_location?: boolean;
    /** @default false */
    auto_repair?: boolean;
  }

  /** Arguments of `word:validate_document_footnotes`. */
  interface ValidateDocumentFootnotesArgs {
    filename: string;
  }

  /** Arguments of `word:delete_footnote_robust`. */
  interface DeleteFootnoteRobustArgs {
    filename: string;
    /** @integer @default null */
    footnote_id?: number;
    /** @default null */
    search_text?: string;
    /** @default true */
    clean_orphans?: boolean;
  }

  /** Arguments of `word:get_paragraph_text_from_document`. */
  interface GetParagraphTextFromDocumentArgs {
    filename: string;
    /** @integer */
    paragraph_index: number;
  }

  /** Arguments of `word:find_text_in_document`. */
  interface FindTextInDocumentArgs {
    filename: string;
    text_to_find: string;
    /** @default true */
    match_case?: boolean;
    /** @default false */
    whole_word?: boolean;
  }

  /** Arguments of `word:convert_to_pdf`. */
  interface ConvertToPdfArgs {
    filename: string;
    /** @default null */
    output_filename?: string;
  }

  /** Arguments of `word:replace_paragraph_block_below_header`. */
  interface ReplaceParagraphBlockBelowHeaderArgs {
    filename: string;
    header_text: string;
    new_paragraphs: string[];
    /** @default null */
    detect_block_end_fn?: string;
  }

  /** Arguments of `word:replace_block_between_manual_anchors`. */
  interface ReplaceBlockBetweenManualAnchorsArgs {
    filename: string;
    start_anchor_text: string;
    new_paragraphs: string[];
    /** @default null */
    end_anchor_text?: string;
    /** @default null */
    match_fn?: string;
    /** @default null */
    new_paragraph_style?: string;
  }

  /** Arguments of `word:get_all_comments`. */
  interface GetAllCommentsArgs {
    filename: string;
  }

  /** Arguments of `word:get_comments_by_author`. */
  interface GetCommentsByAuthorArgs {
    filename: string;
    author: string;
  }

  /** Arguments of `word:get_comments_for_paragraph`. */
  interface GetCommentsForParagraphArgs {
    filename: string;
    /** @integer */
    paragraph_index: number;
  }

  /** Arguments of `word:set_table_column_width`. */
  interface SetTableColumnWidthArgs {
    filename: string;
    /** @integer */
    table_index: number;
    /** @integer */
    col_index: number;
    width: number;
    /** @default "points" */
    width_type?: string;
  }

  /** Arguments of `word:set_table_column_widths`. */
  interface SetTableColumnWidthsArgs {
    filename: string;
    /** @integer */
    table_index: number;
    widths: number[];
    /** @default "points" */
    width_type?: string;
  }

  /** Arguments of `word:set_table_width`. */
  interface SetTableWidthArgs {
    filename: string;
    /** @integer */
    table_index: number;
    width: number;
    /** @default "points" */
    width_type?: string;
  }

  /** Arguments of `word:auto_fit_table_columns`. */
  interface AutoFitTableColumnsArgs {
    filename: string;
    /** @integer */
    table_index: number;
  }

  /** Arguments of `word:format_table_cell_text`. */
  interface FormatTableCellTextArgs {
    filename: string;
    /** @integer */
    table_index: number;
    /** @integer */
    row_index: number;
    /** @integer */
    col_index: number;
    /** @default null */
    text_content?: string;
    /** @default null */
    bold?: boolean;
    /** @default null */
    italic?: boolean;
    /** @default null */
    underline?: boolean;
    /** @default null */
    color?: string;
    /** @integer @default null */
    font_size?: number;
    /** @default null */
    font_name?: string;
  }

  /** Arguments of `word:set_table_cell_padding`. */
  interface SetTableCellPaddingArgs {
    filename: string;
    /** @integer */
    table_index: number;
    /** @integer */
    row_index: number;
    /** @integer */
    col_index: number;
    /** @default null */
    top?: number;
    /** @default null */
    bottom?: number;
    /** @default null */
    left?: number;
    /** @default null */
    right?: number;
    /** @default "points" */
    unit?: string;
  }
}
