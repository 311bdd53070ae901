// kind: syntax
export default <script src="x">{1}</script>;
